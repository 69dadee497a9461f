#include "cli/difference/model_changes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/prediction/variation_graph.h"

char *name_without_line(const char *name) {
    char *kept = memory_strdup(name);
    char *out = kept;
    for (const char *in = name; *in;) {
        size_t digits = *in == ':' ? strspn(in + 1, "0123456789") : 0;
        in += digits > 0 ? digits + 1 : 0;
        if (digits == 0)
            *out++ = *in++;
    }
    *out = '\0';
    return kept;
}

/* Of the names of `n` things, the index of the only one that is the same but for lines; MODEL_NONE.
 */
static int find_only(const char *name, const char *const *names, size_t n) {
    char *wanted = name_without_line(name);
    int found = MODEL_NONE;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        char *other = name_without_line(names[i]);
        if (strcmp(wanted, other) == 0) {
            found = (int)i;
            count++;
        }
        free(other);
    }
    free(wanted);
    return count == 1 ? found : MODEL_NONE;
}

/* ---- what differs ---- */

/* One thing of the later model, to be put into the earlier one. */
struct difference {
    bool is_amount; /* of an object; else what a pool computes */
    int index;      /* in the earlier model */
    double value;   /* an amount; or a factor */
};

struct search {
    const struct predicted_model *before, *after;
    const struct model_source *source;
    const struct sim_config *config;
    struct model_changes *changes;
};

double model_changes_figure(const struct sim_result *result) {
    return result->regime == REGIME_ENDING ? result->run_ns.mean : result->response_ns.mean;
}

static void apply(const struct difference *difference, struct model *model) {
    if (!difference->is_amount) {
        variation_graph_scale_cpu(model, difference->index, difference->value);
        return;
    }
    struct linear *amount = &model->objects[difference->index].amount;
    free(amount->terms);
    *amount = (struct linear){.base = difference->value};
}

static int simulate(const struct search *search, const struct difference *difference,
                    double *effect, struct error *error) {
    const struct prediction *was = search->before->prediction;
    struct model *model = search->source->load(search->source->context, error);
    if (!model)
        return -1;
    apply(difference, model);
    struct sim_config config = *search->config;
    struct sim_result result;
    prediction_configure(was, &config);
    int status = sim_predict(model, &config, &result, error);
    if (status == 0) {
        *effect = model_changes_figure(&result) / model_changes_figure(&was->result) - 1;
        sim_result_free(&result);
    }
    model_free(model);
    return status;
}

/* Takes `what`. */
static int add(const struct search *search, const struct difference *difference, char *what,
               double factor, struct error *error) {
    struct model_change *change = VECTOR_ADD(search->changes);
    *change = (struct model_change){.what = what, .factor = factor};
    return simulate(search, difference, &change->effect, error);
}

/* ---- pools ---- */

static double pool_cpu_ns(const struct predicted_model *side, int pool) {
    const struct sim_pool_result *result = &side->prediction->result.pools[pool];
    return result->cpu_ns.mean * result->threads;
}

static int add_pool(const struct search *search, int before, int after, struct error *error) {
    double factor = pool_cpu_ns(search->after, after) / pool_cpu_ns(search->before, before);
    if (!isfinite(factor) || !(fabs(factor - 1) > 0))
        return 0;
    const struct difference difference = {.index = before, .value = factor};
    const char *name = search->before->model->pools[before].name;
    return add(search, &difference, memory_format("%s computes", name), factor, error);
}

/* ---- limits ---- */

/* NaN: it has none. */
static double limit_of(const struct predicted_model *side, int index) {
    const struct object *object = &side->model->objects[index];
    bool has_limit =
        (object->kind == OBJECT_QUEUE && object->bounded) || object->kind == OBJECT_TOKENS;
    return has_limit ? round(linear_value(&object->amount, side->prediction->pool_threads)) : NAN;
}

static int add_limit(const struct search *search, int before, int after, struct error *error) {
    double limits[] = {limit_of(search->before, before), limit_of(search->after, after)};
    if (!(limits[0] > 0 && limits[1] > 0 && fabs(limits[1] - limits[0]) > 0))
        return 0;
    const struct difference difference = {true, before, limits[1]};
    char *name = name_without_line(search->before->model->objects[before].name);
    char *what = memory_format("%s: %.0f became %.0f", name, limits[0], limits[1]);
    free(name);
    return add(search, &difference, what, limits[1] / limits[0], error);
}

/* ---- all of it ---- */

typedef int add_difference(const struct search *search, int before, int after, struct error *error);

static int add_all(const struct search *search, const char *const *before, size_t n_before,
                   const char *const *after, size_t n_after, add_difference *one,
                   struct error *error) {
    for (size_t i = 0; i < n_before; i++) {
        int itself = find_only(before[i], before, n_before);
        int later = find_only(before[i], after, n_after);
        if (itself != MODEL_NONE && later != MODEL_NONE && one(search, itself, later, error) < 0)
            return -1;
    }
    return 0;
}

static const char **pool_names(const struct model *model) {
    const char **names = memory_alloc(model->n_pools + 1, sizeof *names);
    for (size_t i = 0; i < model->n_pools; i++)
        names[i] = model->pools[i].name;
    return names;
}

static const char **object_names(const struct model *model) {
    const char **names = memory_alloc(model->n_objects + 1, sizeof *names);
    for (size_t i = 0; i < model->n_objects; i++)
        names[i] = model->objects[i].name;
    return names;
}

static int by_size(const void *left, const void *right) {
    const struct model_change *a = left, *b = right;
    double sizes[] = {fabs(a->effect), fabs(b->effect)};
    if (sizes[0] < sizes[1] || sizes[0] > sizes[1])
        return sizes[0] < sizes[1] ? 1 : -1;
    return strcmp(a->what, b->what);
}

int model_changes_find(const struct predicted_model *before, const struct predicted_model *after,
                       const struct model_source *source, const struct sim_config *config,
                       struct model_changes *changes, struct error *error) {
    const struct search search = {before, after, source, config, changes};
    const struct model *old = before->model, *new = after->model;
    const char **pools[] = {pool_names(old), pool_names(new)};
    const char **objects[] = {object_names(old), object_names(new)};
    *changes = (struct model_changes){0};
    int status = add_all(&search, pools[0], old->n_pools, pools[1], new->n_pools, add_pool, error);
    if (status == 0)
        status = add_all(&search, objects[0], old->n_objects, objects[1], new->n_objects, add_limit,
                         error);
    VECTOR_SORT(changes, by_size);
    for (int side = 0; side < 2; side++) {
        free(pools[side]);
        free(objects[side]);
    }
    return status;
}

void model_changes_free(struct model_changes *changes) {
    for (size_t i = 0; i < changes->count; i++)
        free(changes->items[i].what);
    free(changes->items);
    *changes = (struct model_changes){0};
}
