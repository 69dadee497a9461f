#include "modelgen/rewrite/sleeping_polls.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* Sleeps of a thread, and the joins behind them; numbers of events, the ends not included. */
struct polls {
    size_t first, end, joins_end;
    uint64_t done_ns;                    /* when the last of the joined threads had ended */
    const struct trace_thread *detached; /* the last to end of those that nobody joins, or NULL */
};

static bool is_sleep(const struct trace_record *record) {
    return trace_op(record) == OP_SLEEP;
}

/* How many sleeps from one place follow each other, from this one on. */
static size_t run_of_sleeps(const struct trace_thread *thread, size_t first) {
    size_t n = 0;
    for (struct event_cursor at = event_cursor_from(thread, first);
         event_cursor_next(&at) && is_sleep(at.event) &&
         at.event->context == thread->records[first].context;)
        n++;
    return n;
}

static const struct trace_thread *joined_thread(const struct trace *trace,
                                                const struct trace_thread *by,
                                                const struct trace_record *join) {
    size_t t = trace_thread_by_index(trace, by->pid, join->value);
    return t < trace->n_threads ? &trace->threads[t] : NULL;
}

/* Finds the joins behind the sleeps. False: there are none, or it is not known of whom. */
static bool find_joins(const struct trace *trace, const struct trace_thread *thread,
                       struct polls *polls) {
    polls->joins_end = polls->end;
    for (struct event_cursor at = event_cursor_from(thread, polls->end);
         event_cursor_next(&at) && trace_op(at.event) == OP_JOIN;) {
        const struct trace_thread *joined = joined_thread(trace, thread, at.event);
        if (!joined)
            return false;
        if (joined->end_ns > polls->done_ns)
            polls->done_ns = joined->end_ns;
        polls->joins_end = at.number + 1;
    }
    return polls->joins_end > polls->end;
}

/* Was it made by the same thread in the same place, to do the same? */
static bool are_alike(const struct trace_thread *a, const struct trace_thread *b) {
    return a->pid == b->pid && a->creator == b->creator &&
           a->creation_context == b->creation_context &&
           strcmp(a->start_routine, b->start_routine) == 0;
}

/* Have all threads like this one ended by then? */
static bool have_ended(const struct trace *trace, const struct trace_thread *like, uint64_t by_ns) {
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        if (are_alike(thread, like) && (!thread->end_seen || thread->end_ns > by_ns))
            return false;
    }
    return true;
}

static bool is_one_joined(const struct trace *trace, const struct trace_thread *like) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at);) {
            if (trace_op(at.event) != OP_JOIN)
                continue;
            const struct trace_thread *joined = joined_thread(trace, &trace->threads[t], at.event);
            if (joined && are_alike(joined, like))
                return true;
        }
    return false;
}

/* Detached threads cannot be joined: who made them looks at what they say at their end. Finds those
 * of which the last one ended during the last sleep. */
static bool find_detached(const struct trace *trace, const struct trace_thread *thread,
                          struct polls *polls) {
    const struct trace_record *last = &thread->records[polls->end - 1];
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *other = &trace->threads[t];
        if (other->creator == thread->index && other->pid == thread->pid &&
            other->end_ns >= last->start_ns && other->end_ns <= trace_end_ns(last) &&
            (!polls->detached || other->end_ns > polls->detached->end_ns))
            polls->detached = other;
    }
    if (!polls->detached || !have_ended(trace, polls->detached, trace_end_ns(last)) ||
        is_one_joined(trace, polls->detached))
        return false;
    polls->done_ns = polls->detached->end_ns;
    return true;
}

/* Did the thread stop sleeping the first time that it looked after all were done? */
static bool stops_when_done(const struct trace_thread *thread, const struct polls *polls) {
    const struct trace_record *last = &thread->records[polls->end - 1];
    return polls->done_ns >= last->start_ns && polls->done_ns <= trace_end_ns(last);
}

static bool find_polls(const struct trace *trace, const struct trace_thread *thread,
                       struct polls *polls) {
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (!is_sleep(at.event))
            continue;
        size_t n = run_of_sleeps(thread, at.number);
        *polls = (struct polls){.first = at.number, .end = at.number + n};
        if ((double)n >= evidence.times_alike &&
            ((find_joins(trace, thread, polls) && stops_when_done(thread, polls)) ||
             find_detached(trace, thread, polls)))
            return true;
        event_cursor_skip(&at, polls->end - 1);
    }
    return false;
}

/* Joins of the detached threads, behind the last sleep. */
static void add_joins(struct event_log *log, size_t thread, struct polls *polls) {
    struct event_insertion *joins = memory_alloc(log->trace.n_threads, sizeof *joins);
    size_t n = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++)
        if (are_alike(&log->trace.threads[t], polls->detached))
            joins[n++] = (struct event_insertion){
                .after = polls->end - 1,
                .record = {.start_ns = polls->done_ns,
                           .api = API_pthread_join,
                           .context = log->trace.threads[thread].records[polls->end - 1].context,
                           .value = log->trace.threads[t].index}};
    event_log_insert(log, thread, joins, n);
    polls->joins_end = polls->end + n;
    free(joins);
}

/* The first join waits from the first sleep on, until all have ended; the others find them so. */
static void show_joins(struct event_log *log, size_t thread, const struct polls *polls,
                       uint64_t from_ns) {
    for (size_t r = polls->end; r < polls->joins_end; r++) {
        struct trace_record *join = event_log_change(log, thread, r);
        join->start_ns = r == polls->end ? from_ns : polls->done_ns;
        join->duration_ns = polls->done_ns - join->start_ns;
        if (r == polls->end)
            join->flags |= TRACE_WAITED;
    }
}

static void show(struct event_log *log, size_t thread, struct polls *polls) {
    if (polls->detached)
        add_joins(log, thread, polls);
    const struct trace_thread *of = &log->trace.threads[thread];
    struct trace_record rest = of->records[polls->end - 1];
    uint64_t from_ns = of->records[polls->first].start_ns, end_ns = trace_end_ns(&rest);
    rest.start_ns = polls->done_ns;
    rest.duration_ns = end_ns - polls->done_ns;
    show_joins(log, thread, polls, from_ns);
    event_log_insert(log, thread,
                     &(struct event_insertion){.after = polls->joins_end - 1, .record = rest}, 1);
    bool *dropped = memory_alloc(log->trace.threads[thread].n_records, sizeof *dropped);
    for (size_t r = polls->first; r < polls->end; r++)
        dropped[r] = true;
    event_log_drop(log, thread, dropped);
    free(dropped);
}

size_t sleeping_polls_as_joins(struct event_log *log) {
    size_t found = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        struct polls polls;
        while (find_polls(&log->trace, &log->trace.threads[t], &polls)) {
            show(log, t, &polls);
            found++;
        }
    }
    return found;
}
