#include "sampler/pools.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FAR_LARGER 10 /* times; the paper's example has 26 and says only "far" */

void pools_add(struct pools_tuples *tuples, const int *threads, size_t n_threads, uint64_t count) {
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

static bool is_better(const struct pools_tuple *tuple, const struct pools_tuple *than) {
    if (!than || tuple->n_threads != than->n_threads)
        return !than || tuple->n_threads < than->n_threads;
    return tuple->count > than->count;
}

/* In the order of the tuples, so that the choice does not depend on anything else. */
void pools_assign(const struct pools_tuples *tuples, int *pool_of) {
    const struct pools_tuple **chosen = NULL;
    size_t n_chosen = 0;
    for (size_t i = 0; i < tuples->count; i++) {
        const struct pools_tuple *tuple = &tuples->items[i];
        size_t needed = (size_t)tuple->threads[tuple->n_threads - 1] + 1;
        if (needed > n_chosen) {
            chosen = memory_resize(chosen, needed, sizeof *chosen);
            memset(chosen + n_chosen, 0, (needed - n_chosen) * sizeof *chosen);
            n_chosen = needed;
        }
        if (is_spurious(tuples, tuple))
            continue;
        for (size_t j = 0; j < tuple->n_threads; j++) {
            const struct pools_tuple **best = &chosen[tuple->threads[j]];
            if (is_better(tuple, *best))
                *best = tuple;
        }
    }
    for (size_t thread = 0; thread < n_chosen; thread++)
        if (chosen[thread])
            pool_of[thread] = (int)(chosen[thread] - tuples->items);
    free(chosen);
}

void pools_free(struct pools_tuples *tuples) {
    for (size_t i = 0; i < tuples->count; i++)
        free(tuples->items[i].threads);
    free(tuples->items);
    *tuples = (struct pools_tuples){NULL, 0, 0};
}
