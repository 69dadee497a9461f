#include "modelgen/pools/duties.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/scaling/source.h"

bool duties_are_in(const struct duties *duties, const char *function) {
    for (size_t f = 0; f < duties->n_functions; f++)
        if (strcmp(duties->functions[f], function) == 0)
            return true;
    return false;
}

bool duties_make(const struct duties *duties, const struct trace_context *calls) {
    for (size_t f = 0; f < calls->n_frames; f++)
        if (duties_are_in(duties, calls->frames[f].function))
            return true;
    return false;
}

void duties_add(struct duties *duties, const char *function) {
    if (duties_are_in(duties, function))
        return;
    duties->functions =
        memory_resize(duties->functions, duties->n_functions + 1, sizeof *duties->functions);
    duties->functions[duties->n_functions++] = function;
}

/* Is a function that is called by `caller` part of the work? By what is called around it or, if
 * that is NULL, if the thread's outermost function, `start`, calls it. */
static bool belongs(const struct duties *around, const char *start, const char *function,
                    const char *caller, bool is_outermost) {
    if (!around)
        return is_outermost && strcmp(caller, start) == 0;
    return duties_are_in(around, caller) && !duties_are_in(around, function) &&
           api_find_internal(function) < 0;
}

static void add_called(const struct duties *around, const char *start,
                       const struct trace_context *calls, struct duties *duties) {
    for (size_t f = 0; f + 1 < calls->n_frames; f++)
        if (belongs(around, start, calls->frames[f].function, calls->frames[f + 1].function,
                    f + 2 == calls->n_frames))
            duties_add(duties, calls->frames[f].function);
}

static void add_sampled(const struct duties *around, const char *start, const struct sample *sample,
                        struct duties *duties) {
    for (size_t n = 0; n < sample->n_nodes; n++) {
        const struct sample_node *node = &sample->nodes[n];
        const struct sample_node *caller = node->parent < 0 ? NULL : &sample->nodes[node->parent];
        if (caller &&
            belongs(around, start, node->function, caller->function, caller->parent < 0) &&
            source_under_root(sample, n, start))
            duties_add(duties, node->function);
    }
}

struct duties duties_find(const struct trace *trace, const struct sample *sample,
                          const size_t *members, size_t n_members, const struct duties *around) {
    struct duties duties = {0};
    const char *start = trace->threads[members[0]].start_routine;
    for (size_t m = 0; m < n_members; m++) {
        const struct trace_thread *thread = &trace->threads[members[m]];
        for (size_t r = 0; r < thread->n_records; r++)
            if (thread->records[r].context != TRACE_NO_CONTEXT)
                add_called(around, start, &trace->contexts[thread->records[r].context], &duties);
    }
    if (sample)
        add_sampled(around, start, sample, &duties);
    return duties;
}

void duties_free(struct duties *duties) {
    free(duties->functions);
}

/* How often threads that begin with `start` were seen to run below one of the functions. */
static double samples_in(const struct duties *duties, const struct sample *sample,
                         const char *start) {
    double running = 0;
    for (size_t n = 0; n < sample->n_nodes; n++) {
        bool within = false;
        for (int at = (int)n; sample->nodes[at].parent >= 0; at = sample->nodes[at].parent)
            within |= duties_are_in(duties, sample->nodes[at].function);
        if (within && source_under_root(sample, n, start))
            running += (double)sample->nodes[n].running;
    }
    return running;
}

bool duties_creator_has(const struct duties *duties, const struct trace *trace,
                        const struct sample *sample, size_t creator, const size_t *members,
                        size_t n_members) {
    const struct trace_thread *threads = trace->threads;
    double own = samples_in(duties, sample, threads[creator].start_routine);
    double theirs = samples_in(duties, sample, threads[members[0]].start_routine);
    return own > 0 && own >= DUTIES_PART_SHARE * theirs / (double)n_members;
}
