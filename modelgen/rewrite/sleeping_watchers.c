#include "modelgen/rewrite/sleeping_watchers.h"

#include <string.h>

#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* Nobody can wait for such a call, nor does it wait for others but for a lock: whoever passes work
 * on, or has it passed on, makes others. */
static bool is_watching(const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    switch (info->object) {
    case ON_NONE:
        return info->op != OP_POLL;
    case ON_MUTEX:
    case ON_RWLOCK:
    case ON_SPIN:
    case ON_ONCE:
        return true;
    case ON_FILE:
        return info->op != OP_READ || !(record->flags & TRACE_WAITED);
    default:
        return false;
    }
}

/* The last sleep of a thread that does so most of its life, in one place, and works for nobody;
 * NULL: it does not. */
static const struct trace_record *last_sleep_of(const struct trace_thread *thread) {
    const struct trace_record *last = NULL;
    double asleep_ns = 0, n = 0;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (!is_watching(at.event))
            return NULL;
        if (trace_op(at.event) != OP_SLEEP)
            continue;
        n = last && at.event->context == last->context ? n + 1 : 1;
        last = at.event;
        asleep_ns += (double)at.event->duration_ns;
    }
    double life_ns = (double)(thread->end_ns - thread->start_ns);
    return n >= evidence.times_alike && asleep_ns >= evidence.majority * life_ns ? last : NULL;
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
        const struct trace_record *last = last_sleep_of(&log->trace.threads[t]);
        if (last && is_alone(&log->trace, t)) {
            const struct trace_record last_sleep = *last; /* the log may move it */
            found += show_joins_of(log, t, &last_sleep);
        }
    }
    return found;
}
