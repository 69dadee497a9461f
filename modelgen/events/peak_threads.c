#include "modelgen/events/peak_threads.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

static int compare_times(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Lowers the starts of the threads that this one made, by index in the trace, to when it did. */
static void start_at_creation(const struct trace_thread *creator, uint64_t *starts, size_t n) {
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (trace_op(record) != OP_CREATE || record->value < 0 || (size_t)record->value >= n)
            continue;
        if (record->start_ns < starts[record->value])
            starts[record->value] = record->start_ns;
    }
}

/* When each thread of the trace was made: on a busy machine it gets a core only later. As recorded,
 * where nobody saw who made it. Looks only at those that made one of the `n`. */
static uint64_t *find_births(const struct trace *trace, const size_t *threads, size_t n) {
    uint64_t *births = memory_alloc(trace->n_threads, sizeof *births);
    bool *is_read = memory_alloc(trace->n_threads, sizeof *is_read);
    for (size_t t = 0; t < trace->n_threads; t++)
        births[t] = trace->threads[t].start_ns;
    for (size_t i = 0; i < n; i++) {
        int creator = trace->threads[threads[i]].creator;
        if (creator < 0 || (size_t)creator >= trace->n_threads || is_read[creator])
            continue;
        is_read[creator] = true;
        start_at_creation(&trace->threads[creator], births, trace->n_threads);
    }
    free(is_read);
    return births;
}

int peak_threads(const struct trace *trace, const size_t *threads, size_t n) {
    if (n == 0)
        return 0;
    uint64_t *starts = memory_alloc(n, sizeof *starts), *ends = memory_alloc(n, sizeof *ends);
    uint64_t *births = find_births(trace, threads, n);
    for (size_t i = 0; i < n; i++) {
        starts[i] = births[threads[i]];
        ends[i] = trace->threads[threads[i]].end_ns;
    }
    qsort(starts, n, sizeof *starts, compare_times);
    qsort(ends, n, sizeof *ends, compare_times);
    int most = 0;
    size_t ended = 0;
    for (size_t i = 0; i < n; i++) {
        while (ended < n && ends[ended] <= starts[i])
            ended++;
        int alive = (int)(i + 1) - (int)ended;
        most = alive > most ? alive : most;
    }
    free(births);
    free(starts);
    free(ends);
    return most;
}
