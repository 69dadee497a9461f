#include "modelgen/graph/intraclass_correlation.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

static double mean_of(const struct values *values) {
    double sum = 0;
    for (size_t i = 0; i < values->count; i++)
        sum += values->items[i];
    return sum / (double)values->count;
}

/* Per value its place in the order of rounds, each with one of every thread; NULL: they have no
 * rounds. The caller frees. */
static size_t *find_places(const struct peg_builder *builder, const struct peg_edge *draft) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    return pool->size > 1 ? loop_passes_numbers(&draft->passes, pool) : NULL;
}

void intraclass_correlation_even_out(const struct peg_builder *builder, struct peg_edge *draft) {
    size_t n = draft->passes.count, size = (size_t)peg_builder_pool_of(builder, draft)->size;
    size_t *places = find_places(builder, draft);
    if (!places)
        return;
    double *sum = memory_alloc(n / size, sizeof *sum);
    for (size_t i = 0; i < n; i++)
        sum[places[i] / size] += draft->cpu_ns.items[i];
    for (size_t i = 0; i < n; i++)
        draft->cpu_ns.items[i] = sum[places[i] / size] / (double)size;
    free(places);
    free(sum);
}

struct intraclass_correlation intraclass_correlation_find(const struct peg_builder *builder,
                                                          const struct peg_edge *draft) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    size_t n = draft->passes.count, size = (size_t)pool->size, n_rounds = n / size;
    size_t *places = find_places(builder, draft);
    if (!places)
        return (struct intraclass_correlation){0};
    double *sum = memory_alloc(n_rounds, sizeof *sum), mean = mean_of(&draft->cpu_ns), squares = 0;
    for (size_t i = 0; i < n; i++) {
        double value = draft->cpu_ns.items[i] - mean;
        squares += value * value;
        sum[places[i] / size] += value;
    }
    double products = -squares, pairs = (double)n * (pool->size - 1); /* in one round, both ways */
    for (size_t r = 0; r < n_rounds; r++)
        products += sum[r] * sum[r];
    free(places);
    free(sum);
    double share = squares > 0 ? products / pairs / (squares / (double)n) : 0;
    /* The standard error of no correlation is one by the root of the number of pairs. */
    return share > gsl_cdf_ugaussian_Qinv(evidence.chance) / sqrt(pairs / 2)
               ? (struct intraclass_correlation){fmin(share, 1), pool->size}
               : (struct intraclass_correlation){0};
}
