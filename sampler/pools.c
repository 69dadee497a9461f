#include "sampler/pools.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FAR_LARGER 10 /* times; the paper's example has 26 and says only "far" */

void sample_pools_add(struct pools_tuples *tuples, const int *threads, size_t n_threads,
                      uint64_t count) {
    for (size_t i = 0; i < tuples->count; i++) {
        struct pools_tuple *known = &tuples->items[i];
        if (known->n_threads == n_threads &&
            memcmp(known->threads, threads, n_threads * sizeof *threads) == 0) {
            known->count += count;
            return;
        }
    }
    struct pools_tuple *tuple = VECTOR_ADD(tuples);
    tuple->threads = memory_alloc(n_threads, sizeof *threads);
    memcpy(tuple->threads, threads, n_threads * sizeof *threads);
    tuple->n_threads = n_threads;
    tuple->count = count;
}

static bool contains(const struct pools_tuple *outer, const struct pools_tuple *inner) {
    size_t found = 0;
    for (size_t i = 0; i < outer->n_threads && found < inner->n_threads; i++)
        if (outer->threads[i] == inner->threads[found])
            found++;
    return found == inner->n_threads;
}

static bool is_spurious(const struct pools_tuples *tuples, const struct pools_tuple *tuple) {
    for (size_t i = 0; i < tuples->count; i++) {
        const struct pools_tuple *other = &tuples->items[i];
        if (other->n_threads > tuple->n_threads && other->count >= FAR_LARGER * tuple->count &&
            contains(other, tuple))
            return true;
    }
    return false;
}

#define NONE (-1)

/* Whether tuple `index` says more about a thread's work than tuple `than`. */
static bool is_better(const struct pools_tuples *tuples, int index, int than) {
    if (than == NONE)
        return true;
    const struct pools_tuple *a = &tuples->items[index], *b = &tuples->items[than];
    if (a->n_threads != b->n_threads)
        return a->n_threads < b->n_threads;
    return a->count > b->count;
}

static size_t count_threads(const struct pools_tuples *tuples) {
    size_t n = 0;
    for (size_t i = 0; i < tuples->count; i++) {
        size_t needed = (size_t)tuples->items[i].threads[tuples->items[i].n_threads - 1] + 1;
        n = needed > n ? needed : n;
    }
    return n;
}

void sample_pools_assign(const struct pools_tuples *tuples, int *pool_of) {
    size_t n_threads = count_threads(tuples);
    int *best = memory_alloc(n_threads, sizeof *best);
    for (size_t thread = 0; thread < n_threads; thread++)
        best[thread] = NONE;
    for (int i = 0; i < (int)tuples->count; i++) {
        const struct pools_tuple *tuple = &tuples->items[i];
        if (is_spurious(tuples, tuple))
            continue;
        for (size_t j = 0; j < tuple->n_threads; j++)
            if (is_better(tuples, i, best[tuple->threads[j]]))
                best[tuple->threads[j]] = i;
    }
    for (size_t thread = 0; thread < n_threads; thread++)
        if (best[thread] != NONE)
            pool_of[thread] = best[thread];
    free(best);
}

void sample_pools_free(struct pools_tuples *tuples) {
    for (size_t i = 0; i < tuples->count; i++)
        free(tuples->items[i].threads);
    free(tuples->items);
    *tuples = (struct pools_tuples){NULL, 0, 0};
}
