#include "modelgen/threads/task_threads.h"

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

/* What a thread that is made after this call would be for. */
static enum made_for made_after(const struct trace_record *record, enum made_for before) {
    switch (record->api) {
    case ROLE_get:
        return MADE_FOR_TASK;
    case ROLE_idle:
        return MADE_FOR_CONNECTION;
    case ROLE_task_end:
        return MADE_FOR_ANYTHING;
    default:
        return before;
    }
}

enum made_for *task_threads_find(const struct trace *trace) {
    enum made_for *made_for = memory_alloc(trace->n_threads, sizeof *made_for);
    for (size_t t = 0; t < trace->n_threads; t++) {
        enum made_for next = MADE_FOR_ANYTHING;
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at);) {
            if (at.event->flags & TRACE_FAILED)
                continue;
            next = made_after(at.event, next);
            if (next == MADE_FOR_ANYTHING || trace_op(at.event) != OP_CREATE)
                continue;
            size_t made = trace_thread_by_index(trace, trace->threads[t].pid, at.event->value);
            if (made < trace->n_threads)
                made_for[made] = next;
            next = MADE_FOR_ANYTHING;
        }
    }
    return made_for;
}
