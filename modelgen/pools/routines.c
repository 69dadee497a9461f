#include "modelgen/pools/routines.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/run/wrappers.h"

/* Of the calls that lead to a record the first one that is the program's own; NULL when a thread
 * does not begin in the library, or never leaves it. */
static char *handed_over(const struct trace_context *calls) {
    size_t i = calls->n_frames;
    if (i == 0 || !wrappers_is_of_standard_library(&calls->frames[i - 1]))
        return NULL;
    while (i > 0 && wrappers_is_of_standard_library(&calls->frames[i - 1]))
        i--;
    return i > 0 ? calls->frames[i - 1].function : NULL;
}

static char *routine_of(const struct trace *trace, const struct trace_thread *thread) {
    char *routine = NULL;
    for (size_t r = 0; thread->creator >= 0 && !routine && r < thread->n_records; r++)
        if (thread->records[r].context != TRACE_NO_CONTEXT)
            routine = handed_over(&trace->contexts[thread->records[r].context]);
    return routine;
}

void routines_of_program(struct view *view) {
    const struct trace *trace = view->recorded;
    char **routines = memory_alloc(trace->n_threads, sizeof *routines);
    for (size_t t = 0; t < trace->n_threads; t++)
        routines[t] = routine_of(trace, &trace->threads[t]);
    for (size_t t = 0; t < trace->n_threads; t++) {
        size_t like = t;
        for (size_t other = 0; !routines[like] && other < trace->n_threads; other++)
            if (routines[other] && trace_threads_alike(&trace->threads[other], &trace->threads[t]))
                like = other;
        if (routines[like])
            view_thread(view, t)->start_routine = routines[like];
    }
    free(routines);
}
