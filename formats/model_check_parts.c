#include "formats/model_check.h"

#include <math.h>
#include <stdarg.h>

int model_violation(const struct place *place, struct error *error, const char *format, ...) {
    char what[512];
    char where[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    place_text(place, where, sizeof where);
    return error_set(error, "%s: %s: correct it, or run `persik build-model` again", where, what);
}

int model_check_amount(double value, const char *key, const struct place *above,
                       struct error *error) {
    if (isfinite(value) && value >= 0)
        return 0;
    return model_violation(PLACE_KEY(above, key), error, "%g is not a finite number from 0 up",
                           value);
}

int model_check_index(int index, size_t n, const char *what, const struct place *place,
                      struct error *error) {
    if (index >= 0 && (size_t)index < n)
        return 0;
    return model_violation(place, error, "%d is not the index of %s (there are %zu)", index, what,
                           n);
}

static int check_values(const struct dist *dist, const struct place *place, struct error *error) {
    bool is_range = dist->kind == DIST_UNIFORM;
    if (!dist->values || dist->n_values == 0 || (is_range && dist->n_values != 2))
        return model_violation(place, error, "needs %s", is_range ? "two values" : "values");
    for (size_t i = 0; i < dist->n_values; i++) {
        const struct place *here = PLACE_INDEX(place, i);
        if (!isfinite(dist->values[i]) || dist->values[i] < 0)
            return model_violation(here, error, "%g is not a finite number from 0 up",
                                   dist->values[i]);
        if (i > 0 && dist->values[i] < dist->values[i - 1])
            return model_violation(here, error, "the values are not ascending");
    }
    return 0;
}

int model_check_dist(const struct dist *dist, const char *key, const struct place *above,
                     struct error *error) {
    const struct place *place = PLACE_KEY(above, key);
    switch (dist->kind) {
    case DIST_NONE:
        return 0;
    case DIST_CONSTANT:
    case DIST_EXPONENTIAL:
        return model_check_amount(dist->mean, "mean", place, error);
    case DIST_EMPIRICAL:
        if (model_check_amount(dist->mean, "mean", place, error))
            return -1;
        if (!(dist->common >= 0 && dist->common <= 1))
            return model_violation(PLACE_KEY(place, "common"), error, "%g is no share from 0 to 1",
                                   dist->common);
        if (dist->common > 0 && dist->sharers < 1)
            return model_violation(PLACE_KEY(place, "sharers"), error,
                                   "a number of threads is missing");
        return check_values(dist, PLACE_KEY(place, "values"), error);
    case DIST_UNIFORM:
        return check_values(dist, PLACE_KEY(place, "values"), error);
    }
    return model_violation(PLACE_KEY(place, "kind"), error, "an unknown kind");
}

int model_check_linear(const struct model *model, const struct linear *linear, const char *key,
                       const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, key);
    if (!isfinite(linear->base))
        return model_violation(PLACE_KEY(place, "base"), error, "not a finite number");
    for (size_t i = 0; i < linear->n_terms; i++) {
        const struct place *here = PLACE_INDEX(PLACE_KEY(place, "per_thread"), i);
        if (model_check_index(linear->terms[i].pool, model->n_pools, "a pool",
                              PLACE_KEY(here, "pool"), error))
            return -1;
        if (!isfinite(linear->terms[i].factor))
            return model_violation(PLACE_KEY(here, "factor"), error, "not a finite number");
    }
    return 0;
}

int model_check_scaling(const struct model *model, const struct scaling *scaling, const char *key,
                        const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, key);
    if (!(scaling->share >= 0 && scaling->share <= 1))
        return model_violation(PLACE_KEY(place, "share"), error, "%g is not between 0 and 1",
                               scaling->share);
    if (!(scaling->growth >= 0 && scaling->share + scaling->growth <= 1 + 1e-9))
        return model_violation(PLACE_KEY(place, "growth"), error,
                               "%g is not between 0 and 1 - share", scaling->growth);
    if (!(scaling->less >= 0 && isfinite(scaling->less)))
        return model_violation(PLACE_KEY(place, "less"), error, "%g is not 0 or more",
                               scaling->less);
    if (scaling->rest != REST_NONE && !(scaling->total >= 1 && isfinite(scaling->total)))
        return model_violation(PLACE_KEY(place, "total"), error, "%g items cannot be shared out",
                               scaling->total);
    if (scaling->share == 0 && scaling->growth == 0 && scaling->rest == REST_NONE)
        return 0;
    const struct place *pool = PLACE_KEY(place, "pool");
    if (model_check_index(scaling->pool, model->n_pools, "a pool", pool, error))
        return -1;
    if (model->pools[scaling->pool].profiled_threads < 1)
        return model_violation(pool, error,
                               "pool %d was profiled with no threads, so nothing can be "
                               "scaled by it",
                               scaling->pool);
    return 0;
}
