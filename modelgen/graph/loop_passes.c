#include "modelgen/graph/loop_passes.h"

#include <stdlib.h>

#include "base/memory.h"

size_t *loop_passes_positions(const struct thread_pool *pool, size_t *n) {
    *n = 0;
    for (size_t at = 0; at < pool->n_threads; at++)
        *n = pool->threads[at] >= *n ? pool->threads[at] + 1 : *n;
    size_t *position = memory_alloc(*n, sizeof *position);
    for (size_t at = 0; at < pool->n_threads; at++)
        position[pool->threads[at]] = at + 1;
    return position;
}

/* How many passes each thread of the pool made, by its position; NULL: some were made by others. */
static size_t *count_passes(const struct loop_passes *passes, const struct thread_pool *pool,
                            const size_t *position, size_t n_positions) {
    size_t *made = memory_alloc(pool->n_threads, sizeof *made);
    for (size_t i = 0; i < passes->count; i++) {
        size_t thread = passes->items[i].thread;
        size_t at = thread < n_positions ? position[thread] : 0;
        if (at == 0) {
            free(made);
            return NULL;
        }
        made[at - 1]++;
    }
    return made;
}

/* The round in which each thread begins, `size` of them at a time. False: those that lived at one
 * time did not make equally many passes. */
static bool number_rounds(const size_t *made, size_t n_threads, size_t size, size_t *next) {
    size_t round = 0;
    for (size_t i = 0; i < n_threads; i++) {
        if (made[i] != made[i - i % size])
            return false;
        next[i] = round;
        round += i % size == size - 1 ? made[i] : 0;
    }
    return true;
}

size_t *loop_passes_numbers(const struct loop_passes *passes, const struct thread_pool *pool) {
    size_t size = (size_t)pool->size;
    if (passes->count == 0 || pool->n_threads % size != 0)
        return NULL;
    size_t n_positions, *position = loop_passes_positions(pool, &n_positions), *places = NULL;
    size_t *made = count_passes(passes, pool, position, n_positions);
    size_t *next = memory_alloc(pool->n_threads, sizeof *next);
    if (made && number_rounds(made, pool->n_threads, size, next)) {
        places = memory_alloc(passes->count, sizeof *places);
        for (size_t i = 0; i < passes->count; i++) {
            size_t at = position[passes->items[i].thread] - 1;
            places[i] = next[at]++ * size + at % size;
        }
    }
    free(next);
    free(made);
    free(position);
    return places;
}
