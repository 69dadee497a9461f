/* What a filter shows of a trace, for tests of filters. */
#ifndef PERSIK_TESTS_SHOWN_CALLS_H
#define PERSIK_TESTS_SHOWN_CALLS_H

#include <stddef.h>
#include <string.h>

#include "modelgen/events/event_log.h"

/* The thread's call with this number, from 0, which must be there. */
static inline const struct trace_record *shown_call(const struct event_log *log, int thread,
                                                    size_t number) {
    const struct trace_thread *of = &log->trace.threads[thread];
    assert_true(number < of->n_records);
    return &of->records[number];
}

/* How many calls of this kind the thread makes. */
static inline size_t count_shown(const struct event_log *log, int thread, enum api api) {
    size_t n = 0;
    for (size_t r = 0; r < log->trace.threads[thread].n_records; r++)
        n += log->trace.threads[thread].records[r].api == api;
    return n;
}

/* All threads make the calls that were recorded, and nothing is different about these. */
static inline void assert_shown_as_recorded(const struct event_log *log,
                                            const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *shown = &log->trace.threads[t], *recorded = &trace->threads[t];
        assert_int_equal(shown->n_records, recorded->n_records);
        if (recorded->n_records)
            assert_memory_equal(shown->records, recorded->records,
                                recorded->n_records * sizeof *recorded->records);
    }
}

#endif
