#include "modelgen/rewrite/unsignalled_waits.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/event_cursor.h"

enum { ALL_TIMED_OUT = 1, SIGNALLED = 2 };

/* Condition -> ALL_TIMED_OUT where each wait for it ended by its timeout and nobody signalled it,
 * else SIGNALLED. */
static struct map find_conditions(const struct trace *trace) {
    struct map conditions = MAP_EMPTY;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        bool waits = trace_is_condition_wait(at.event);
        if (!waits && !trace_is_condition_signal(at.event))
            continue;
        bool times_out = waits && at.event->flags & (TRACE_TIMEDOUT | TRACE_UNFINISHED) &&
                         trace_op(at.event) == OP_TIMEDWAIT;
        int known = map_get(&conditions, at.event->object, ALL_TIMED_OUT);
        map_put(&conditions, at.event->object, times_out ? known : SIGNALLED);
    }
    return conditions;
}

/* The mutex that the thread has and gives up in the wait: the last one that it took; 0: it has
 * none, or the wait is for another one. */
static uint64_t mutex_of(const struct trace_thread *thread, size_t wait) {
    for (size_t r = wait; r-- > 0;) {
        const struct trace_record *record = &thread->records[r];
        if (api_catalog[record->api].object != ON_MUTEX || record->flags & TRACE_FAILED)
            continue;
        bool fits = trace_op(record) != OP_UNLOCK &&
                    trace_mutex_value(record->object) == thread->records[wait].value;
        return fits ? record->object : 0;
    }
    return 0;
}

static struct trace_record mutex_call(const struct trace_record *wait, enum api api, uint64_t mutex,
                                      uint64_t time_ns) {
    return (struct trace_record){
        .start_ns = time_ns, .api = api, .object = mutex, .context = wait->context};
}

/* The waits of a thread, and what is to be inserted for them. */
struct shown {
    struct {
        struct event_insertion *items;
        size_t count, capacity;
    } added;
    size_t n;
};

static void show_thread(struct event_log *log, size_t t, const struct map *conditions,
                        struct shown *shown) {
    for (size_t r = 0; r < log->trace.threads[t].n_records; r++) {
        const struct trace_record *wait = &log->trace.threads[t].records[r];
        if (!trace_is_condition_wait(wait) ||
            map_get(conditions, wait->object, SIGNALLED) == SIGNALLED)
            continue;
        uint64_t mutex = mutex_of(&log->trace.threads[t], r);
        if (!mutex)
            continue;
        *VECTOR_ADD(&shown->added) = (struct event_insertion){
            r > 0 ? r - 1 : EVENT_LOG_BEGIN, mutex_call(wait, ROLE_unlock, mutex, wait->start_ns)};
        if (!(wait->flags & TRACE_UNFINISHED))
            *VECTOR_ADD(&shown->added) =
                (struct event_insertion){r, mutex_call(wait, ROLE_lock, mutex, trace_end_ns(wait))};
        struct trace_record *sleep = event_log_change(log, t, r);
        sleep->api = API_nanosleep;
        sleep->object = 0;
        sleep->value = 0;
        sleep->flags &= (unsigned)~(TRACE_TIMEDOUT | TRACE_FAILED);
        shown->n++;
    }
}

/* A thread that a library made behind the probes' back: the model has nobody who makes it, and
 * would not end before it does. What it waits for when its process ends never comes. */
static bool is_ended_in_last_wait(const struct trace_thread *thread) {
    if (thread->creator >= 0 || thread->tid == thread->pid || thread->n_records == 0)
        return false;
    const struct trace_record *last = &thread->records[thread->n_records - 1];
    return trace_is_condition_wait(last) && last->flags & TRACE_UNFINISHED;
}

/* The mutex that it took last of those that it has there; a wait that did not return tells none. 0:
 * it has none. */
static uint64_t last_mutex(const struct trace_thread *thread) {
    struct map released = MAP_EMPTY;
    uint64_t mutex = 0;
    for (size_t r = thread->n_records - 1; !mutex && r-- > 0;) {
        const struct trace_record *record = &thread->records[r];
        if (api_catalog[record->api].object != ON_MUTEX || record->flags & TRACE_FAILED)
            continue;
        if (trace_op(record) == OP_UNLOCK)
            map_put(&released, record->object, 1);
        else if (!map_get(&released, record->object, 0))
            mutex = record->object;
    }
    map_free(&released);
    return mutex;
}

/* It ends when it has left the core where it was then. */
static void end_thread(struct trace_thread *thread, uint64_t time_ns) {
    while (thread->n_slices > 0 && thread->slices[thread->n_slices - 1].on_ns > time_ns)
        thread->n_slices--;
    uint64_t off_ns = thread->n_slices > 0 ? thread->slices[thread->n_slices - 1].off_ns : 0;
    thread->end_ns = off_ns > time_ns ? off_ns : time_ns;
}

size_t unsignalled_waits_as_ends(struct event_log *log) {
    size_t found = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        const struct trace_thread *thread = &log->trace.threads[t];
        uint64_t mutex = is_ended_in_last_wait(thread) ? last_mutex(thread) : 0;
        if (!mutex)
            continue;
        struct trace_record *last = event_log_change(log, t, thread->n_records - 1);
        *last = mutex_call(last, ROLE_unlock, mutex, last->start_ns);
        end_thread(event_log_thread(log, t), last->start_ns);
        found++;
    }
    if (found > 0)
        decision("unsignalled_waits", "condition", "end",
                 "%zu threads whose creation was not seen wait until the program ends", found);
    return found;
}

size_t unsignalled_waits_as_sleeps(struct event_log *log) {
    struct map conditions = find_conditions(&log->trace);
    size_t found = 0;
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        struct shown shown = {0};
        show_thread(log, t, &conditions, &shown);
        event_log_insert(log, t, shown.added.items, shown.added.count);
        free(shown.added.items);
        found += shown.n;
    }
    map_free(&conditions);
    if (found > 0)
        decision("unsignalled_waits", "condition", "sleep",
                 "%zu waits for conditions that nobody signals end by their timeouts", found);
    return found;
}
