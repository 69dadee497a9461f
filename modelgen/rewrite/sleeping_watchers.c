#include "modelgen/rewrite/sleeping_watchers.h"

#include <string.h>

#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* The last sleep of a thread that sleeps often enough in that place; NULL: it does not. */
static const struct trace_record *last_of_many_sleeps(const struct trace_thread *thread) {
    const struct trace_record *last = NULL;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
        if (trace_op(at.event) == OP_SLEEP)
            last = at.event;
    size_t n = 0;
    for (struct event_cursor at = event_cursor_of_thread(thread); last && event_cursor_next(&at);)
        n += trace_op(at.event) == OP_SLEEP && at.event->context == last->context;
    return (double)n >= evidence.times_alike ? last : NULL;
}

/* Is it the only thread that does that? Several alike share out work, and end at the same time. */
static bool is_alone(const struct trace *trace, size_t thread) {
    const struct trace_thread *is = &trace->threads[thread];
    for (size_t t = 0; t < trace->n_threads; t++)
        if (t != thread && strcmp(trace->threads[t].start_routine, is->start_routine) == 0)
            return false;
    return is->creator >= 0;
}

/* Did it stop when it looked for the first time after somebody began to wait for its end? */
static bool is_told(const struct trace_record *join, const struct trace_record *last_sleep) {
    return join->start_ns > last_sleep->start_ns && join->start_ns < trace_end_ns(last_sleep) &&
           trace_end_ns(join) >= trace_end_ns(last_sleep);
}

/* As long as it was, which is the rest of the other one's last sleep, and its last look. */
static void show_as_sleep(struct event_log *log, size_t thread, size_t number,
                          const struct trace_record *last_sleep) {
    struct trace_record sleep = *last_sleep;
    struct trace_record *join = event_log_change(log, thread, number);
    sleep.start_ns = join->start_ns;
    sleep.duration_ns = join->duration_ns;
    sleep.context = join->context;
    *join = sleep;
}

static size_t show_joins_of(struct event_log *log, size_t watcher,
                            const struct trace_record *last_sleep) {
    size_t found = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        const struct trace_thread *thread = &log->trace.threads[t];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
            if (trace_op(at.event) == OP_JOIN &&
                trace_thread_by_index(&log->trace, thread->pid, at.event->value) == watcher &&
                is_told(at.event, last_sleep)) {
                show_as_sleep(log, t, at.number, last_sleep);
                found++;
            }
    }
    return found;
}

size_t sleeping_watchers_as_unjoined(struct event_log *log) {
    size_t found = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        const struct trace_record *last = last_of_many_sleeps(&log->trace.threads[t]);
        if (last && is_alone(&log->trace, t)) {
            const struct trace_record last_sleep = *last; /* the log may move it */
            found += show_joins_of(log, t, &last_sleep);
        }
    }
    return found;
}
