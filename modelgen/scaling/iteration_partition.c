#include "modelgen/scaling/iteration_partition.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort_double.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

/* The thread's most frequent call; NULL: it makes none. */
static const struct trace_record *busiest_call(const struct trace_thread *thread) {
    struct map counts = MAP_EMPTY;
    const struct trace_record *best = NULL;
    int most = 0;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        uint64_t key = map_mix(map_mix(23, at.event->context), at.event->api);
        int count = map_get(&counts, key, 0) + 1;
        map_put(&counts, key, count);
        if (count > most) {
            most = count;
            best = at.event;
        }
    }
    map_free(&counts);
    return best;
}

/* From call to call; before the first one or after the last one lies a round too. */
static double cpu_in_rounds(const struct thread_states *timeline) {
    const struct trace_thread *thread = timeline->thread;
    const struct trace_record *call = busiest_call(thread);
    double first = 0, last = 0, count = 0;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (at.event->context != call->context || at.event->api != call->api)
            continue;
        last = thread_states_cpu(timeline, at.event->start_ns);
        first = count > 0 ? first : last;
        count++;
    }
    double all = thread_states_cpu(timeline, thread->end_ns);
    double rounds = count > 1 ? (last - first) * count / (count - 1) : all;
    return rounds < all ? rounds : all;
}

struct iteration_partition_cpu iteration_partition_cpu(const struct trace *trace,
                                                       const struct thread_states *timelines,
                                                       const struct thread_pool *pool) {
    struct iteration_partition_cpu result = {0};
    for (size_t i = 0; i < pool->n_threads; i++) {
        size_t t = pool->threads[i];
        double all = thread_states_cpu(&timelines[t], trace->threads[t].end_ns);
        result.all_ns += all / (double)pool->n_threads;
        result.outside_ns += (all - cpu_in_rounds(&timelines[t])) / (double)pool->n_threads;
    }
    return result;
}

/* Rounds by pass and number of the thread, passes[pass * size + index]; NULL unless all threads
 * made equally many passes with known rounds. */
static double *by_thread(const struct loop_passes *passes, const struct thread_pool *pool) {
    size_t *places = loop_passes_numbers(passes, pool);
    double *rounds = places ? memory_alloc(passes->count, sizeof *rounds) : NULL;
    bool known = places;
    for (size_t i = 0; places && i < passes->count; i++) {
        known &= passes->items[i].rounds >= 1;
        rounds[places[i]] = passes->items[i].rounds;
    }
    free(places);
    if (known)
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

struct iteration_partition_fit iteration_partition_fit(const struct loop_passes *passes,
                                                       const struct thread_pool *pool,
                                                       enum rest told) {
    struct iteration_partition_fit result = {.rest = REST_NONE};
    double *rounds = by_thread(passes, pool);
    size_t n_passes = passes->count / (size_t)pool->size;
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
