#include "modelgen/rewrite/worker_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"

bool worker_functions_contain(const struct worker_functions *functions, const char *function) {
    for (size_t f = 0; f < functions->n_functions; f++)
        if (strcmp(functions->functions[f], function) == 0)
            return true;
    return false;
}

bool worker_functions_make(const struct worker_functions *functions,
                           const struct trace_context *calls) {
    for (size_t f = 0; f < calls->n_frames; f++)
        if (worker_functions_contain(functions, calls->frames[f].function))
            return true;
    return false;
}

void worker_functions_add(struct worker_functions *functions, const char *function) {
    if (worker_functions_contain(functions, function))
        return;
    functions->functions = memory_resize(functions->functions, functions->n_functions + 1,
                                         sizeof *functions->functions);
    functions->functions[functions->n_functions++] = function;
}

/* Is a function that is called by `caller` part of the work? By what is called around it or, if
 * that is NULL, if the thread's outermost function, `start`, calls it. */
static bool belongs(const struct worker_functions *around, const char *start, const char *function,
                    const char *caller, bool is_outermost) {
    if (!around)
        return is_outermost && strcmp(caller, start) == 0;
    return worker_functions_contain(around, caller) &&
           !worker_functions_contain(around, function) && api_find_internal(function) < 0;
}

static void add_called(const struct worker_functions *around, const char *start,
                       const struct trace_context *calls, struct worker_functions *functions) {
    for (size_t f = 0; f + 1 < calls->n_frames; f++)
        if (belongs(around, start, calls->frames[f].function, calls->frames[f + 1].function,
                    f + 2 == calls->n_frames))
            worker_functions_add(functions, calls->frames[f].function);
}

static void add_sampled(const struct worker_functions *around, const char *start,
                        const struct sample *sample, struct worker_functions *functions) {
    for (size_t n = 0; n < sample->n_nodes; n++) {
        const struct sample_node *node = &sample->nodes[n];
        const struct sample_node *caller = node->parent < 0 ? NULL : &sample->nodes[node->parent];
        if (caller &&
            belongs(around, start, node->function, caller->function, caller->parent < 0) &&
            source_under_root(sample, n, start))
            worker_functions_add(functions, node->function);
    }
}

struct worker_functions worker_functions_find(const struct trace *trace,
                                              const struct sample *sample, const size_t *members,
                                              size_t n_members,
                                              const struct worker_functions *around) {
    struct worker_functions functions = {0};
    const char *start = trace->threads[members[0]].start_routine;
    for (size_t m = 0; m < n_members; m++) {
        const struct trace_thread *thread = &trace->threads[members[m]];
        for (size_t r = 0; r < thread->n_records; r++)
            if (thread->records[r].context != TRACE_NO_CONTEXT)
                add_called(around, start, &trace->contexts[thread->records[r].context], &functions);
    }
    if (sample)
        add_sampled(around, start, sample, &functions);
    return functions;
}

void worker_functions_free(struct worker_functions *functions) {
    free(functions->functions);
}

/* How often threads that begin with `start` were seen to run below one of the functions. */
static double samples_in(const struct worker_functions *functions, const struct sample *sample,
                         const char *start) {
    double running = 0;
    for (size_t n = 0; n < sample->n_nodes; n++) {
        bool within = false;
        for (int at = (int)n; sample->nodes[at].parent >= 0; at = sample->nodes[at].parent)
            within |= worker_functions_contain(functions, sample->nodes[at].function);
        if (within && source_under_root(sample, n, start))
            running += (double)sample->nodes[n].running;
    }
    return running;
}

bool worker_functions_run_by_creator(const struct worker_functions *functions,
                                     const struct trace *trace, const struct sample *sample,
                                     size_t creator, const size_t *members, size_t n_members) {
    const struct trace_thread *threads = trace->threads;
    double own = samples_in(functions, sample, threads[creator].start_routine);
    double theirs = samples_in(functions, sample, threads[members[0]].start_routine);
    return own > 0 && own >= evidence.creator_part * theirs / (double)n_members;
}
