#include "modelgen/scaling/rounds.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort_double.h>

#include "base/map.h"
#include "base/memory.h"

/* The thread's most frequent call; NULL: it makes none. */
static const struct trace_record *busiest_call(const struct trace_thread *thread) {
    struct map counts = MAP_EMPTY;
    const struct trace_record *best = NULL;
    int most = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        uint64_t key = map_mix(map_mix(23, record->context), record->api);
        int count = map_get(&counts, key, 0) + 1;
        map_put(&counts, key, count);
        if (count > most) {
            most = count;
            best = record;
        }
    }
    map_free(&counts);
    return best;
}

/* From call to call; before the first one or after the last one lies a round too. */
static double cpu_in_rounds(const struct timeline *timeline) {
    const struct trace_thread *thread = timeline->thread;
    const struct trace_record *call = busiest_call(thread);
    double first = 0, last = 0, count = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        if (record->context != call->context || record->api != call->api)
            continue;
        last = timeline_cpu(timeline, record->start_ns);
        first = count > 0 ? first : last;
        count++;
    }
    double all = timeline_cpu(timeline, thread->end_ns);
    double rounds = count > 1 ? (last - first) * count / (count - 1) : all;
    return rounds < all ? rounds : all;
}

struct rounds_cpu rounds_cpu(const struct trace *trace, const struct timeline *timelines,
                             const struct thread_pool *pool) {
    struct rounds_cpu result = {0};
    for (size_t i = 0; i < pool->n_threads; i++) {
        size_t t = pool->threads[i];
        double all = timeline_cpu(&timelines[t], trace->threads[t].end_ns);
        result.all_ns += all / (double)pool->n_threads;
        result.outside_ns += (all - cpu_in_rounds(&timelines[t])) / (double)pool->n_threads;
    }
    return result;
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

/* Which thread gets one more is not the same in all even ways: rows * id / threads spreads them. */
static bool fits_even(const double *rounds, double total, int size) {
    double *sorted = memory_alloc((size_t)size, sizeof *sorted);
    for (int i = 0; i < size; i++)
        sorted[i] = rounds[i];
    gsl_sort(sorted, 1, (size_t)size);
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
