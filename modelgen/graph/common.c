#include "modelgen/graph/common.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* A correlation of what has nothing to do with each other is seldom larger than this many times its
 * standard deviation, one by the root of the number of pairs. */
#define CHANCE 3

/* Per value, the round that its thread was in. Threads that are created anew each time go on
 * counting where those before them stopped. The caller frees; NULL: not all had as many. */
static size_t *rounds_of(const struct builder *builder, const struct draft_edge *draft,
                         const struct thread_pool *pool) {
    size_t n = draft->passes.count, n_threads = builder->in->trace->n_threads;
    size_t *next = memory_alloc(n_threads, sizeof *next); /* per thread; first: how many it has */
    size_t *seen = memory_alloc((size_t)pool->size, sizeof *seen);
    size_t *rounds = memory_alloc(n, sizeof *rounds);
    for (size_t i = 0; i < n; i++)
        next[draft->passes.items[i].thread]++;
    for (size_t t = 0; t < pool->n_threads; t++) {
        size_t *before = &seen[t % (size_t)pool->size];
        size_t own = next[pool->threads[t]];
        next[pool->threads[t]] = *before;
        *before += own;
    }
    for (size_t i = 0; i < n; i++)
        rounds[i] = next[draft->passes.items[i].thread]++;
    bool equal = true;
    for (size_t slot = 1; slot < (size_t)pool->size; slot++)
        equal &= seen[slot] == seen[0];
    free(next);
    free(seen);
    if (equal)
        return rounds;
    free(rounds);
    return NULL;
}

static double mean_of(const struct values *values) {
    double sum = 0;
    for (size_t i = 0; i < values->count; i++)
        sum += values->items[i];
    return sum / (double)values->count;
}

struct common common_find(const struct builder *builder, const struct draft_edge *draft) {
    const struct thread_pool *pool =
        &builder->in->pools->pools[builder->nodes.items[draft->from].pool];
    size_t n = draft->passes.count;
    size_t *rounds = pool->size > 1 && n > 1 && n == draft->cpu_ns.count
                         ? rounds_of(builder, draft, pool)
                         : NULL;
    if (!rounds)
        return (struct common){0};
    size_t n_rounds = n / (size_t)pool->size;
    double *sum = memory_alloc(n_rounds, sizeof *sum), mean = mean_of(&draft->cpu_ns), squares = 0;
    for (size_t i = 0; i < n; i++) {
        double value = draft->cpu_ns.items[i] - mean;
        squares += value * value;
        sum[rounds[i]] += value;
    }
    double products = -squares, pairs = (double)n * (pool->size - 1); /* in one round, both ways */
    for (size_t r = 0; r < n_rounds; r++)
        products += sum[r] * sum[r];
    free(rounds);
    free(sum);
    double share = squares > 0 ? products / pairs / (squares / (double)n) : 0;
    return share > CHANCE / sqrt(pairs / 2) ? (struct common){fmin(share, 1), pool->size}
                                            : (struct common){0};
}
