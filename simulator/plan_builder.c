#include "simulator/plan_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* As many rounds as there were. */
static void add_rounds(struct plan_builder *builder, const struct dist *dist,
                       struct plan_draw *draw) {
    double *values = memory_alloc(dist->n_values, sizeof *values);
    memcpy(values, dist->values, dist->n_values * sizeof *values);
    struct dist rounds =
        dist_from_values(values, dist->n_values, dist->n_values / (size_t)dist->sharers);
    draw->common = dist->common;
    draw->rounds = builder->n_rounds++;
    draw->first_round = builder->values.count;
    draw->n_round_values = rounds.n_values > 0 ? rounds.n_values : 1;
    for (size_t i = 0; i < draw->n_round_values; i++)
        *VECTOR_ADD(&builder->values) = rounds.n_values > 0 ? rounds.values[i] : rounds.mean;
    free(rounds.values);
    free(values);
}

int plan_add_draw(struct plan_builder *builder, const struct dist *dist) {
    if (dist->kind == DIST_NONE)
        return PLAN_NONE;
    struct plan_draw draw = {.kind = dist->kind, .mean = dist_mean(dist), .rounds = PLAN_NONE};
    if (dist->kind == DIST_UNIFORM) {
        draw.low = dist->values[0];
        draw.high = dist->values[1];
    } else if (dist->kind == DIST_EMPIRICAL) {
        draw.first_value = builder->values.count;
        draw.n_values = dist->n_values;
        for (size_t i = 0; i < dist->n_values; i++)
            *VECTOR_ADD(&builder->values) = dist->values[i];
        if (dist->common > 0)
            add_rounds(builder, dist, &draw);
    }
    *VECTOR_ADD(&builder->draws) = draw;
    return (int)builder->draws.count - 1;
}

/* Where so many are drawn or to be drawn from, decks need not come out even: the rest is little. */
#define MANY_VALUES 256

/* Of a total that threads split: each gets a part, so other numbers of threads make another number
 * of parts out of what was measured. The parts' sum stays, and so do the differences between them;
 * a few values drawn as they are would be the total by chance alone. */
int plan_add_draw_of_parts(struct plan_builder *builder, const struct dist *dist,
                           const struct scaling *scaling) {
    if (dist->kind != DIST_EMPIRICAL || dist->common > 0 || scaling->share == 0 ||
        scaling->rest != REST_NONE)
        return plan_add_draw(builder, dist);
    double threads = builder->pool_threads[scaling->pool];
    double profiled = builder->model->pools[scaling->pool].profiled_threads;
    size_t n = (size_t)fmax(1, round((double)dist->n_values * threads / profiled));
    if (n >= MANY_VALUES || dist->n_values >= MANY_VALUES)
        return plan_add_draw(builder, dist);
    struct dist parts = {.kind = DIST_EMPIRICAL, .n_values = n};
    parts.values = memory_alloc(n, sizeof *parts.values);
    double width = (double)dist->n_values / (double)n; /* of a part, in measured values */
    for (size_t i = 0; i < n; i++)
        parts.values[i] =
            dist_bin_mean(dist->values, (double)i * width, (double)(i + 1) * width, dist->n_values);
    int draw = plan_add_draw(builder, &parts);
    free(parts.values);
    return draw;
}

struct dist plan_multiplied(const struct dist *dist, double factor) {
    struct dist scaled = *dist;
    scaled.mean *= factor;
    scaled.values = memory_alloc(dist->n_values, sizeof *scaled.values);
    for (size_t i = 0; i < dist->n_values; i++)
        scaled.values[i] = dist->values[i] * factor;
    return scaled;
}

/* A CPU demand; `scaling` NULL: it is no part of anything. */
int plan_add_cpu_draw(struct plan_builder *builder, const struct dist *dist,
                      const struct scaling *scaling) {
    struct dist scaled = plan_multiplied(dist, builder->cpu_factor);
    int draw = scaling ? plan_add_draw_of_parts(builder, &scaled, scaling)
                       : plan_add_draw(builder, &scaled);
    free(scaled.values);
    return draw;
}

struct plan_factor plan_factor_of(const struct plan_builder *builder,
                                  const struct scaling *scaling) {
    struct plan_factor factor = {.whole = 1};
    if (scaling->share == 0 && scaling->growth == 0)
        return factor;
    double profiled = builder->model->pools[scaling->pool].profiled_threads;
    int configured = builder->pool_threads[scaling->pool];
    if (configured < 1)
        configured = 1; /* nobody to split with: as if alone */
    factor.less = scaling->less;
    factor.whole = (1 - scaling->share - scaling->growth) + scaling->growth * configured / profiled;
    if (scaling->share == 0)
        return factor;
    if (scaling->rest == REST_NONE) {
        factor.whole += scaling->share * profiled / configured;
        return factor;
    }
    factor.rest = scaling->rest;
    factor.total = scaling->total;
    factor.per_item = scaling->share * profiled / scaling->total;
    factor.threads = configured;
    for (int i = 0; i < scaling->pool; i++)
        factor.first_thread += builder->pool_threads[i];
    return factor;
}
