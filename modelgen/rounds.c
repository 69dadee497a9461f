#include "modelgen/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

int rounds_index(const struct thread_pool *pool, size_t thread) {
    for (size_t i = 0; i < pool->n_threads; i++)
        if (pool->threads[i] == thread)
            return (int)(i % (size_t)pool->size);
    return -1;
}

/* Rounds by pass and number of the thread, passes[pass * size + index]; NULL unless all threads
 * made equally many passes with known rounds. */
static double *by_thread(const struct passes *passes, const struct thread_pool *pool,
                         size_t *n_passes) {
    size_t size = (size_t)pool->size, *made = memory_alloc(pool->n_threads, sizeof *made);
    *n_passes = pool->n_threads ? passes->count / pool->n_threads : 0;
    size_t n_generations = pool->n_threads / size;
    bool whole = *n_passes > 0 && *n_passes * pool->n_threads == passes->count &&
                 n_generations * size == pool->n_threads;
    double *rounds = memory_alloc(passes->count + 1, sizeof *rounds);
    for (size_t i = 0; whole && i < passes->count; i++) {
        size_t at = 0;
        while (at < pool->n_threads && pool->threads[at] != passes->items[i].thread)
            at++;
        whole = at < pool->n_threads && passes->items[i].rounds >= 1 && made[at] < *n_passes;
        if (whole)
            rounds[(at / size * *n_passes + made[at]++) * size + at % size] =
                passes->items[i].rounds;
    }
    *n_passes *= n_generations;
    free(made);
    if (whole)
        return rounds;
    free(rounds);
    return NULL;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Which thread gets one more is not the same in all even ways: rows * id / threads spreads them. */
static bool fits_even(const double *rounds, double total, int size) {
    double *sorted = memory_alloc((size_t)size, sizeof *sorted);
    for (int i = 0; i < size; i++)
        sorted[i] = rounds[i];
    qsort(sorted, (size_t)size, sizeof *sorted, compare_doubles);
    bool fits = true;
    for (int i = 0; i < size; i++)
        fits &= sorted[size - 1 - i] == partition_part(REST_EVEN, total, size, i);
    free(sorted);
    return fits;
}

static bool fits(enum rest rest, const double *rounds, double total, int size) {
    if (rest == REST_EVEN)
        return fits_even(rounds, total, size);
    for (int i = 0; i < size; i++)
        if (rounds[i] != partition_part(rest, total, size, i))
            return false;
    return true;
}

struct rounds_fit rounds_fit(const struct passes *passes, const struct thread_pool *pool,
                             enum rest told) {
    struct rounds_fit result = {.rest = REST_NONE};
    size_t n_passes;
    double *rounds = by_thread(passes, pool, &n_passes);
    for (int i = 0; rounds && i < pool->size; i++) {
        result.total += rounds[i];
        result.uneven |= rounds[i] != rounds[0];
    }
    enum rest ways[] = {told, REST_EVEN, REST_LAST, REST_CHUNKS};
    for (size_t w = 0; rounds && w < sizeof ways / sizeof *ways && !result.rest; w++) {
        bool all = ways[w] != REST_NONE;
        for (size_t p = 0; p < n_passes && all; p++)
            all = fits(ways[w], &rounds[p * (size_t)pool->size], result.total, pool->size);
        if (all)
            result.rest = ways[w];
    }
    free(rounds);
    return result;
}
