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

/* The last sleep of a thread, and the one before in that place, which begins its last round; `last`
 * NULL: it does not sleep most of its life, in places where it comes again and again, or works for
 * somebody. */
struct sleeps {
    const struct trace_record *last, *before;
};

/* The last sleep at `context`, or anywhere (TRACE_NO_CONTEXT), of the thread's first `n` events. */
static size_t last_sleep(const struct trace_thread *thread, size_t n, uint32_t context) {
    while (n > 0 && !(trace_op(&thread->records[n - 1]) == OP_SLEEP &&
                      (context == TRACE_NO_CONTEXT || thread->records[n - 1].context == context)))
        n--;
    return n;
}

static double times_slept(const struct trace_thread *thread, uint32_t context) {
    double n = 0;
    for (size_t r = thread->n_records; (r = last_sleep(thread, r, context)) > 0; r--)
        n++;
    return n;
}

static struct sleeps sleeps_of(const struct trace_thread *thread) {
    const struct sleeps none = {NULL, NULL};
    double asleep_ns = 0;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (!is_watching(at.event))
            return none;
        asleep_ns += trace_op(at.event) == OP_SLEEP ? (double)at.event->duration_ns : 0;
    }
    double life_ns = (double)(thread->end_ns - thread->start_ns);
    size_t last = last_sleep(thread, thread->n_records, TRACE_NO_CONTEXT);
    if (last == 0 || asleep_ns < evidence.majority * life_ns)
        return none;
    uint32_t place = thread->records[last - 1].context;
    if (times_slept(thread, place) < evidence.times_alike)
        return none;
    size_t before = last_sleep(thread, last - 1, place);
    return (struct sleeps){&thread->records[last - 1], &thread->records[before - 1]};
}

/* Is it the only thread that does that? Several alike share out work, and end at the same time. */
static bool is_alone(const struct trace *trace, size_t thread) {
    const struct trace_thread *is = &trace->threads[thread];
    for (size_t t = 0; t < trace->n_threads; t++)
        if (t != thread && strcmp(trace->threads[t].start_routine, is->start_routine) == 0)
            return false;
    return is->creator >= 0;
}

/* Did it stop when it looked for the first time after somebody began to wait for its end? That may
 * have been in the midst of a round, behind which it slept once more. */
static bool is_told(const struct trace_record *join, const struct trace_thread *watcher,
                    const struct sleeps *sleeps) {
    return join->start_ns > trace_end_ns(sleeps->before) && join->start_ns < watcher->end_ns &&
           trace_end_ns(join) >= trace_end_ns(sleeps->last);
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

static size_t show_joins_of(struct event_log *log, size_t watcher, const struct sleeps *sleeps) {
    size_t found = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        const struct trace_thread *thread = &log->trace.threads[t];
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);)
            if (trace_op(at.event) == OP_JOIN &&
                trace_thread_by_index(&log->trace, thread->pid, at.event->value) == watcher &&
                is_told(at.event, &log->trace.threads[watcher], sleeps)) {
                show_as_sleep(log, t, at.number, sleeps->last);
                found++;
            }
    }
    return found;
}

size_t sleeping_watchers_as_unjoined(struct event_log *log) {
    size_t found = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        struct sleeps sleeps = sleeps_of(&log->trace.threads[t]);
        if (sleeps.last && is_alone(&log->trace, t))
            found += show_joins_of(log, t, &sleeps);
    }
    return found;
}
