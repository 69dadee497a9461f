#include "modelgen/graph/iteration_partition.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort_double.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

/* ---- passes over loops ---- */

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

/* ---- what is outside of rounds ---- */

/* The thread's most frequent call; NULL: it makes none. Page faults are no calls. */
static const struct trace_record *busiest_call(const struct trace_thread *thread) {
    struct map counts = MAP_EMPTY;
    const struct trace_record *best = NULL;
    int most = 0;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (trace_is_page_fault(at.event))
            continue;
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
        if (!call || at.event->context != call->context || at.event->api != call->api)
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

/* ---- what the numbers of rounds tell ---- */

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

void iteration_partition_note(struct partition_evidence *evidence,
                              const struct iteration_partition_fit *fit) {
    if (fit->total <= 0)
        return;
    evidence->remainder |= fit->rest != REST_NONE && fit->uneven;
    evidence->equal |= fit->rest != REST_NONE && !fit->uneven;
    evidence->uneven |= fit->rest == REST_NONE;
    if (fit->total > evidence->total)
        evidence->total = fit->total;
}
