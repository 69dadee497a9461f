#include "modelgen/rewrite/entry_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/source_correlation.h"

/* Of the calls that lead to a record the first one that is the program's own; NULL when a thread
 * does not begin in the library, or never leaves it. */
static char *handed_over(const struct trace_context *calls) {
    size_t own = call_sites_own_frames(calls);
    return own > 0 && own < calls->n_frames ? calls->frames[own - 1].function : NULL;
}

static char *routine_of(const struct trace *trace, const struct trace_thread *thread) {
    char *routine = NULL;
    for (size_t r = 0; thread->creator >= 0 && !routine && r < thread->n_records; r++)
        if (thread->records[r].context != TRACE_NO_CONTEXT)
            routine = handed_over(&trace->contexts[thread->records[r].context]);
    return routine;
}

const char *entry_function_of(const struct trace *trace, size_t thread) {
    const char *routine = routine_of(trace, &trace->threads[thread]);
    for (size_t other = 0; !routine && other < trace->n_threads; other++)
        if (trace_threads_alike(&trace->threads[other], &trace->threads[thread]))
            routine = routine_of(trace, &trace->threads[other]);
    return routine;
}

/* The innermost creation of a thread on the way to where this one is created; NULL: the source does
 * not know it. */
static char *told(const struct trace *trace, const struct facts *facts,
                  const struct trace_thread *thread) {
    if (!facts || thread->creator < 0 || thread->creation_context == TRACE_NO_CONTEXT)
        return NULL;
    const struct trace_context *calls = &trace->contexts[thread->creation_context];
    for (size_t f = 0; f < calls->n_frames; f++)
        for (size_t c = 0; c < facts->n_creations; c++)
            if (facts->creations[c].object == ON_THREAD &&
                source_frame_is_at(&calls->frames[f], &facts->creations[c].place))
                return facts->creations[c].name;
    return NULL;
}

static bool begins_in_library(const struct trace_thread *thread) {
    return strncmp(thread->start_routine, "0x", 2) == 0 ||
           strcmp(thread->start_routine, "execute_native_thread_routine") == 0;
}

void entry_functions_of_program(struct event_log *log, const struct facts *facts) {
    const struct trace *trace = log->recorded;
    char **routines = memory_alloc(trace->n_threads, sizeof *routines);
    for (size_t t = 0; t < trace->n_threads; t++)
        routines[t] = routine_of(trace, &trace->threads[t]);
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        size_t like = t;
        for (size_t other = 0; !routines[like] && other < trace->n_threads; other++)
            if (routines[other] && trace_threads_alike(&trace->threads[other], thread))
                like = other;
        char *routine = routines[like];
        if (!routine && begins_in_library(thread))
            routine = told(trace, facts, thread);
        if (routine)
            event_log_thread(log, t)->start_routine = routine;
    }
    free(routines);
}
