#include "cli/sensitivity/sensitivity.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/judgement.h"
#include "cli/prediction/refusal.h"

/* Each pair is two replications of either model. */
enum { PAIR_REPLICATIONS = 2, MIN_PAIRS = 4, MAX_PAIRS = 20 };

/* After so many events no further pairs: some ten seconds. */
#define MAX_EVENTS 1e8

/* What would be shown as 0.0 %. */
#define LEAST_SHOWN 0.0005

bool effect_is_seen(struct estimate change) {
    return fabs(change.mean) > change.half_width && fabs(change.mean) >= LEAST_SHOWN;
}

/* ---- one pair ---- */

/* Far apart, so that the pairs of --seed 1 are not those of --seed 2. */
static uint64_t seed_of_pair(const struct sensitivity *sensitivity, size_t pair) {
    return sensitivity->config.seed + pair * 0x9e3779b97f4a7c15U;
}

/* `variation` NULL: the model's own part of the pair. */
static int simulate(const struct sensitivity *sensitivity, const struct model *model,
                    const struct variation *variation, size_t pair, struct sim_result *result,
                    struct error *error) {
    struct sim_config config = sensitivity->config;
    int *threads = memory_alloc(model->n_pools + 1, sizeof *threads);
    memcpy(threads, config.pool_threads, model->n_pools * sizeof *threads);
    config.pool_threads = threads;
    config.seed = seed_of_pair(sensitivity, pair);
    config.min_replications = config.max_replications = PAIR_REPLICATIONS;
    if (variation)
        variation_configure(variation, model, &config, threads);
    int status = sim_predict(model, &config, result, error);
    free(threads);
    return status;
}

/* The model's own part of the pair is simulated once for all variations. */
static int simulate_base(struct sensitivity *sensitivity, const struct model *model, size_t pair,
                         struct error *error) {
    if (pair < sensitivity->n_base)
        return 0;
    sensitivity->base =
        memory_resize(sensitivity->base, sensitivity->n_base + 1, sizeof *sensitivity->base);
    if (simulate(sensitivity, model, NULL, pair, &sensitivity->base[pair], error) < 0)
        return -1;
    sensitivity->n_base++;
    return 0;
}

static double metric_of(const struct sim_result *result, enum effect_metric metric) {
    switch (metric) {
    case EFFECT_RUN:
        return result->run_ns.mean;
    case EFFECT_THROUGHPUT:
        return result->tasks.mean > 0 ? result->throughput_hz.mean : NAN;
    case EFFECT_RESPONSE:
        return result->response_ns.mean > 0 ? result->response_ns.mean : NAN;
    case N_EFFECT_METRICS:
        break;
    }
    return NAN;
}

/* ---- all pairs of a variation ---- */

struct pairs {
    double change[N_EFFECT_METRICS][MAX_PAIRS];
    int n;
    double events;
};

static struct estimate estimate_of(const double *changes, int n) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += changes[i];
    double mean = sum / n;
    for (int i = 0; i < n; i++)
        squares += (changes[i] - mean) * (changes[i] - mean);
    double t = gsl_cdf_tdist_Pinv(0.5 + judgement.confidence / 2, n - 1);
    return (struct estimate){mean, t * sqrt(squares / (n - 1) / n)};
}

/* What has to be precise: runs that are cut are all of one length. */
static enum effect_metric focus(const struct sensitivity *sensitivity, const struct pairs *pairs) {
    bool is_cut = sensitivity->config.horizon_ns > 0;
    return is_cut && !isnan(pairs->change[EFFECT_RESPONSE][0]) ? EFFECT_RESPONSE : EFFECT_RUN;
}

static bool is_enough(const struct sensitivity *sensitivity, const struct pairs *pairs) {
    if (pairs->n < MIN_PAIRS)
        return false;
    return pairs->n == MAX_PAIRS || pairs->events >= MAX_EVENTS ||
           estimate_of(pairs->change[focus(sensitivity, pairs)], pairs->n).half_width <=
               sensitivity->config.precision;
}

/* Is the work the same, whatever the variation? What another rule makes of it is not known
 * beforehand, nor what other demands and numbers of threads do. */
static bool is_same_work(const struct variation *variation) {
    return variation->kind != VARY_POOL_RULE && variation->kind != VARY_THREADS &&
           variation->kind != VARY_CORES_AND_THREADS && variation->kind != VARY_EVEN &&
           !(variation->kind == VARY_POOL_CPU && variation->factor < 1);
}

/* Did the threads come to wait for nothing, and was less done for it than without the variation?
 * Where the work is another one, what was done is right. */
static char *judge(const struct sensitivity *sensitivity, const struct model *varied,
                   bool same_work, const struct sim_result *base, const struct sim_result *result) {
    if (!same_work)
        return refusal_of_own_run(varied, result, result->cpu_ns.mean);
    return refusal_of_run(varied, sensitivity->config.pool_threads,
                          sensitivity->config.pool_threads, result, base);
}

/* One more pair. False: it has no figures, and `effect` says why. */
static bool add_pair(const struct sensitivity *sensitivity, const struct variation *variation,
                     const struct model *varied, struct pairs *pairs, struct effect *effect) {
    size_t pair = (size_t)pairs->n;
    const struct sim_result *base = &sensitivity->base[pair];
    struct sim_result result;
    struct error error;
    if (simulate(sensitivity, varied, variation, pair, &result, &error) < 0) {
        effect->no_figures = memory_strdup(error.text);
        return false;
    }
    effect->no_figures = judge(sensitivity, varied, is_same_work(variation), base, &result);
    for (int m = 0; m < N_EFFECT_METRICS; m++)
        pairs->change[m][pair] = metric_of(&result, m) / metric_of(base, m) - 1;
    pairs->events += result.events;
    pairs->n++;
    sim_result_free(&result);
    return !effect->no_figures;
}

static int simulate_pairs(struct sensitivity *sensitivity, const struct model *model,
                          const struct variation *variation, const struct model *varied,
                          struct effect *effect, struct error *error) {
    struct pairs pairs = {0};
    bool has_figures = true;
    while (has_figures && !is_enough(sensitivity, &pairs)) {
        if (simulate_base(sensitivity, model, (size_t)pairs.n, error) < 0)
            return -1;
        has_figures = add_pair(sensitivity, variation, varied, &pairs, effect);
    }
    effect->pairs = pairs.n;
    for (int m = 0; m < N_EFFECT_METRICS; m++)
        effect->change[m] =
            has_figures ? estimate_of(pairs.change[m], pairs.n) : (struct estimate){NAN, NAN};
    return 0;
}

/* The recording's folder is the user's: another model may have taken the place of this one. */
static struct model *load_again(const struct sensitivity *sensitivity, const struct model *model,
                                struct error *error) {
    struct model *again = sensitivity->load(sensitivity->context, error);
    if (again && (strcmp(again->built, model->built) != 0 || again->n_nodes != model->n_nodes ||
                  again->n_objects != model->n_objects || again->n_pools != model->n_pools)) {
        error_set(error, "the model was built anew in the meantime: start again");
        model_free(again);
        return NULL;
    }
    return again;
}

int sensitivity_find(struct sensitivity *sensitivity, const struct model *model,
                     const struct variation *variation, struct effect *effect,
                     struct error *error) {
    *effect = (struct effect){0};
    struct model *varied = load_again(sensitivity, model, error);
    if (!varied)
        return -1;
    int status = 0;
    struct error reason;
    if (variation_apply(variation, varied, &reason) < 0) {
        effect->no_figures = memory_strdup(reason.text);
        for (int m = 0; m < N_EFFECT_METRICS; m++)
            effect->change[m] = (struct estimate){NAN, NAN};
    } else {
        status = simulate_pairs(sensitivity, model, variation, varied, effect, error);
    }
    model_free(varied);
    return status;
}

void effect_free(struct effect *effect) {
    free(effect->no_figures);
    effect->no_figures = NULL;
}

void sensitivity_free(struct sensitivity *sensitivity) {
    for (size_t i = 0; i < sensitivity->n_base; i++)
        sim_result_free(&sensitivity->base[i]);
    free(sensitivity->base);
    sensitivity->base = NULL;
    sensitivity->n_base = 0;
}

/* ---- order ---- */

/* Noise is no size. */
static double size_of(const struct effect *effect, int metric) {
    return effect_is_seen(effect->change[metric]) ? fabs(effect->change[metric].mean) : 0;
}

static int compare_effects(const void *left, const void *right, void *effects) {
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    const struct effect *a = (const struct effect *)effects + i;
    const struct effect *b = (const struct effect *)effects + j;
    if (!a->no_figures != !b->no_figures)
        return a->no_figures ? 1 : -1;
    for (int m = 0; m < N_EFFECT_METRICS; m++)
        if (size_of(a, m) != size_of(b, m))
            return size_of(a, m) < size_of(b, m) ? 1 : -1;
    return i < j ? -1 : i > j;
}

size_t *sensitivity_order(const struct effect *effects, size_t n) {
    size_t *order = memory_alloc(n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    if (n > 0)
        qsort_r(order, n, sizeof *order, compare_effects, (void *)effects);
    return order;
}
