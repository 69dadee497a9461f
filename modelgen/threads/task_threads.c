#include "modelgen/threads/task_threads.h"

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

static size_t thread_by_index(const struct trace *trace, int pid, int index) {
    size_t t = (size_t)index; /* where a trace of one process has it */
    if (index >= 0 && t < trace->n_threads && trace->threads[t].index == index &&
        trace->threads[t].pid == pid)
        return t;
    for (t = 0; t < trace->n_threads; t++)
        if (trace->threads[t].index == index && trace->threads[t].pid == pid)
            break;
    return t;
}

bool *task_threads_find(const struct trace *trace) {
    bool *made_for_task = memory_alloc(trace->n_threads, sizeof *made_for_task);
    for (size_t t = 0; t < trace->n_threads; t++) {
        bool has_task = false;
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at);) {
            if (at.event->flags & TRACE_FAILED)
                continue;
            if (at.event->api == ROLE_task_end)
                has_task = false;
            else if (at.event->api == ROLE_get)
                has_task = true;
            if (!has_task || trace_op(at.event) != OP_CREATE)
                continue;
            size_t made = thread_by_index(trace, trace->threads[t].pid, at.event->value);
            if (made < trace->n_threads)
                made_for_task[made] = true;
            has_task = false;
        }
    }
    return made_for_task;
}
