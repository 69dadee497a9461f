#include "modelgen/calibrate/shared_locks.h"

#include "base/map.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/probe_cost.h"
#include "modelgen/events/thread_states.h"

/* Did it take a lock of any kind? */
static bool takes_lock(const struct trace_record *record) {
    enum api_object object = api_catalog[record->api].object;
    if ((object != ON_MUTEX && object != ON_RWLOCK && object != ON_SPIN) ||
        record->flags & TRACE_FAILED)
        return false;
    enum api_op op = trace_op(record);
    return (op >= OP_LOCK && op <= OP_TIMEDLOCK) || (op >= OP_RDLOCK && op <= OP_TIMEDWRLOCK);
}

enum { SEVERAL = -2 };

/* By lock: the thread that takes it, or SEVERAL. */
static struct map find_takers(const struct trace *trace) {
    struct map takers = MAP_EMPTY;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        if (!takes_lock(at.event))
            continue;
        int thread = (int)at.thread, taker = map_get(&takers, at.event->object, thread);
        map_put(&takers, at.event->object, taker == thread ? thread : SEVERAL);
    }
    return takers;
}

static double cpu_ns(const struct trace *trace) {
    double n = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        n += (double)trace->threads[t].n_records;
    return thread_states_on_core(trace) - n * probe_cost_find(trace).record_ns;
}

double shared_locks_hz(const struct trace *trace) {
    struct map takers = find_takers(trace);
    double taken = 0, computed_ns = cpu_ns(trace);
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        taken += takes_lock(at.event) && map_get(&takers, at.event->object, 0) == SEVERAL;
    map_free(&takers);
    return computed_ns > 0 ? taken * 1e9 / computed_ns : 0;
}
