#include "cli/sensitivity/bottleneck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/sensitivity/sensitivity.h"

#define DEFAULT_PRECISION 0.005

/* Of a run that settles: what comes before is left out. */
#define WARMUP_SHARE 0.2

/* The run that reliefs are held against. */
struct base {
    struct sensitivity sensitivity;
    struct sim_result result;
};

/* As high a load as there can be, and pairs of runs of one length: most of their luck is then in
 * common. */
static int saturate(const struct model *model, struct base *base, struct error *error) {
    struct sim_config *config = &base->sensitivity.config;
    config->is_saturated = true;
    config->arrival_rate_hz = config->think_ns = 0;
    config->clients = 0;
    config->precision = 0;
    if (sim_predict(model, config, &base->result, error) < 0)
        return -1;
    config->horizon_ns = base->result.run_ns.mean;
    config->warmup_ns = WARMUP_SHARE * config->horizon_ns;
    return 0;
}

static int begin(const struct bottleneck_search *search, const struct model *model,
                 const struct prediction *prediction, struct base *base, struct error *error) {
    struct sim_config *config = &base->sensitivity.config;
    base->sensitivity = (struct sensitivity){
        .load = search->load, .context = search->context, .config = search->config};
    prediction_configure(prediction, config);
    bool is_endless = prediction->result.regime != REGIME_ENDING;
    if (is_endless && !(prediction->result.tasks.mean > 0))
        return error_set(error, "the load has no end and the model marks no tasks: nothing tells "
                                "what a relief gains: give --horizon for a run that ends");
    int status = is_endless ? saturate(model, base, error)
                            : sim_predict(model, config, &base->result, error);
    config->precision = search->precision > 0 ? search->precision : DEFAULT_PRECISION;
    return status;
}

/* The model's uncertainty where this is changed. */
static double share_of(const struct model *model, const struct base *base,
                       const struct variation *variation) {
    struct sim_config config = base->sensitivity.config;
    int *threads = memory_alloc(model->n_pools + 1, sizeof *threads);
    memcpy(threads, config.pool_threads, model->n_pools * sizeof *threads);
    double busy_cores = base->result.cpu_utilisation.mean * config.cores;
    if (variation)
        variation_configure(variation, model, &config, threads);
    const struct uncertainty parts = uncertainty_find(model, threads, config.cores, busy_cores);
    free(threads);
    return uncertainty_share(&parts);
}

static struct estimate known_to(struct estimate estimate, double factor, double share) {
    estimate.mean *= factor;
    estimate.half_width = 0;
    return uncertainty_widen(estimate, share);
}

static void free_one(struct bottleneck *bottleneck) {
    free(bottleneck->subject);
    free(bottleneck->place);
    free(bottleneck->change);
}

/* If it gains anything. */
static void add(struct bottlenecks *bottlenecks, const struct model *model, const struct base *base,
                const struct relief *relief, const struct effect *effect) {
    struct estimate change =
        effect->change[bottlenecks->of_throughput ? EFFECT_THROUGHPUT : EFFECT_RUN];
    double gain = bottlenecks->of_throughput ? change.mean : -change.mean;
    if (effect->no_figures || !effect_is_seen(change) || !(gain > 0))
        return;
    const struct variation *variation = &relief->variation;
    *VECTOR_ADD(bottlenecks) = (struct bottleneck){
        .limit = relief->limit,
        .index = variation->index,
        .subject = memory_strdup(variation->subject),
        .place = memory_strdup(variation->place),
        .change = memory_strdup(variation->change),
        .in_use = relief->in_use,
        .gain = {gain, change.half_width},
        .then = known_to(bottlenecks->now, 1 + change.mean, share_of(model, base, variation)),
    };
}

/* ---- the order ---- */

static bool is_less_work(enum limit limit) {
    return limit == LIMIT_ONE_THREAD || limit == LIMIT_SLEEPS || limit == LIMIT_IO;
}

static bool keeps_work(enum limit limit) {
    return limit == LIMIT_LOCK || limit == LIMIT_CAPACITY || limit == LIMIT_PERMITS;
}

static bool comes_to(const struct model *model, int pool, int object) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].object == object && model->nodes[n].pool == pool)
            return true;
    return false;
}

/* Of the limits at which the pool's threads may wait. */
static double most_gained_at_limits(const struct bottlenecks *bottlenecks,
                                    const struct model *model, int pool) {
    double most = 0;
    for (size_t i = 0; i < bottlenecks->count; i++) {
        const struct bottleneck *item = &bottlenecks->items[i];
        if (keeps_work(item->limit) && comes_to(model, pool, item->index))
            most = fmax(most, item->gain.mean);
    }
    return most;
}

static void rank(const struct model *model, struct bottlenecks *bottlenecks) {
    for (size_t i = 0; i < bottlenecks->count; i++) {
        struct bottleneck *item = &bottlenecks->items[i];
        item->rank = item->gain.mean;
        if (is_less_work(item->limit))
            item->rank -= most_gained_at_limits(bottlenecks, model, item->index);
    }
}

static int compare(const void *left, const void *right) {
    const struct bottleneck *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? 1 : -1;
    if (a->limit != b->limit)
        return a->limit < b->limit ? -1 : 1;
    return strcmp(a->subject, b->subject);
}

static int try(struct base *base, const struct model *model, const struct relief *relief,
               struct bottlenecks *bottlenecks, struct error *error) {
    struct effect effect = {0};
    int status = sensitivity_find(&base->sensitivity, model, &relief->variation, &effect, error);
    if (status == 0)
        add(bottlenecks, model, base, relief, &effect);
    effect_free(&effect);
    return status;
}

static double most_gained(const struct bottlenecks *bottlenecks, enum limit limit) {
    double most = 0;
    for (size_t i = 0; i < bottlenecks->count; i++)
        if (bottlenecks->items[i].limit == limit)
            most = fmax(most, bottlenecks->items[i].gain.mean);
    return most;
}

/* Of those that gain as much as the first, as far as noise and `precision` let us tell, the one
 * whose kind is named before the others. */
static void put_simplest_first(struct bottlenecks *bottlenecks, double precision) {
    struct bottleneck *items = bottlenecks->items;
    size_t simplest = 0;
    for (size_t i = 1; i < bottlenecks->count; i++)
        if (items[0].rank - items[i].rank <=
                fmax(precision, items[0].gain.half_width + items[i].gain.half_width) &&
            items[i].limit < items[simplest].limit)
            simplest = i;
    if (simplest == 0)
        return;
    struct bottleneck first = items[simplest];
    memmove(items + 1, items, simplest * sizeof *items);
    items[0] = first;
}

/* As many threads as cores limit each other: both together then gain more than the two alone do,
 * and only then are they named together. */
static int try_both(struct base *base, const struct model *model, struct reliefs *reliefs,
                    struct bottlenecks *bottlenecks, struct error *error) {
    double alone = most_gained(bottlenecks, LIMIT_CORES) + most_gained(bottlenecks, LIMIT_THREADS);
    const struct relief *both =
        reliefs_add_both(reliefs, model, base->sensitivity.config.cores, &base->result);
    size_t before = bottlenecks->count;
    if (both && try(base, model, both, bottlenecks, error) < 0)
        return -1;
    if (bottlenecks->count > before) {
        struct bottleneck *last = &bottlenecks->items[before];
        if (last->gain.mean - last->gain.half_width <= alone) {
            free_one(last);
            bottlenecks->count = before;
        }
    }
    return 0;
}

static int try_all(struct base *base, const struct model *model, struct reliefs *reliefs,
                   struct bottlenecks *bottlenecks, struct error *error) {
    int status = 0;
    for (size_t i = 0; i < reliefs->count && status == 0; i++) {
        progress_show("simulating", (double)i / (double)reliefs->count);
        status = try(base, model, &reliefs->items[i], bottlenecks, error);
    }
    if (status == 0)
        status = try_both(base, model, reliefs, bottlenecks, error);
    progress_end();
    rank(model, bottlenecks);
    VECTOR_SORT(bottlenecks, compare);
    put_simplest_first(bottlenecks, base->sensitivity.config.precision);
    return status;
}

int bottlenecks_find(const struct bottleneck_search *search, const struct model *model,
                     const struct prediction *prediction, struct bottlenecks *bottlenecks,
                     struct error *error) {
    *bottlenecks = (struct bottlenecks){0};
    struct base base = {0};
    if (begin(search, model, prediction, &base, error) < 0)
        return -1;
    const struct sim_result *result = &base.result;
    bottlenecks->of_throughput = base.sensitivity.config.horizon_ns > 0;
    bottlenecks->now = known_to(bottlenecks->of_throughput ? result->throughput_hz : result->run_ns,
                                1, share_of(model, &base, NULL));
    struct reliefs reliefs = reliefs_of(model, prediction->pool_threads, prediction->cores, result);
    int status = try_all(&base, model, &reliefs, bottlenecks, error);
    reliefs_free(&reliefs);
    sensitivity_free(&base.sensitivity);
    sim_result_free(&base.result);
    return status;
}

void bottlenecks_free(struct bottlenecks *bottlenecks) {
    for (size_t i = 0; i < bottlenecks->count; i++)
        free_one(&bottlenecks->items[i]);
    free(bottlenecks->items);
    *bottlenecks = (struct bottlenecks){0};
}
