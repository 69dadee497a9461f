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
