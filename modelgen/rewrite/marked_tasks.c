#include "modelgen/rewrite/marked_tasks.h"

#include <stdlib.h>

#include "base/memory.h"

static size_t count(const struct trace *trace, enum api api) {
    size_t n = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            n += trace->threads[t].records[r].api == api;
    return n;
}

static void drop_found_ends(struct event_log *log) {
    bool **dropped = event_log_flags(log);
    for (size_t t = 0; t < log->trace.n_threads; t++)
        for (size_t r = 0; r < log->trace.threads[t].n_records; r++)
            dropped[t][r] = log->trace.threads[t].records[r].api == ROLE_task_end;
    event_log_drop_all(log, dropped);
}

static void show(struct event_log *log, enum api mark, enum api as) {
    for (size_t t = 0; t < log->trace.n_threads; t++)
        for (size_t r = 0; r < log->trace.threads[t].n_records; r++)
            if (log->trace.threads[t].records[r].api == mark)
                event_log_change(log, t, r)->api = as;
}

struct marked_tasks marked_tasks_show(struct event_log *log) {
    struct marked_tasks marked = {count(&log->trace, ROLE_task_from),
                                  count(&log->trace, ROLE_task_until)};
    if (marked.begun + marked.ended == 0)
        return marked;
    drop_found_ends(log);
    show(log, ROLE_task_from, ROLE_task_begin);
    show(log, ROLE_task_until, ROLE_task_end);
    return marked;
}
