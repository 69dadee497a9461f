#include "modelgen/calibrate/thread_ends.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/peak_threads.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"

/* CPU time of all calls that create a thread. */
static double creating_ns(const struct trace *trace) {
    double sum_ns = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct thread_states timeline = thread_states_make(&trace->threads[t]);
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at);)
            if (trace_op(at.event) == OP_CREATE)
                sum_ns += thread_states_cpu(&timeline, trace_end_ns(at.event)) -
                          thread_states_cpu(&timeline, at.event->start_ns);
        thread_states_free(&timeline);
    }
    return sum_ns;
}

/* Threads that others made, if they were made anew again and again; else 0. */
static double count_made_anew(const struct trace *trace) {
    size_t *made = memory_alloc(trace->n_threads, sizeof *made), n = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        if (trace->threads[t].creator >= 0)
            made[n++] = t;
    double at_a_time = peak_threads(trace, made, n);
    free(made);
    return (double)n >= evidence.times_alike * at_a_time ? (double)n : 0;
}

struct thread_ends thread_ends_find(const struct trace *trace) {
    struct thread_ends found = {0};
    double all_ns = (double)trace->meta.cpu_ns;
    if (!trace->meta.has_slices || !trace->meta.complete || all_ns <= 0)
        return found;
    found.created = count_made_anew(trace);
    if (found.created == 0)
        return found;
    double behind_ns = all_ns - thread_states_on_core(trace) + thread_states_stolen(trace);
    if (behind_ns >= evidence.matters * all_ns)
        found.end_ns = behind_ns / found.created;
    found.share = (creating_ns(trace) + found.end_ns * found.created) / all_ns;
    return found;
}
