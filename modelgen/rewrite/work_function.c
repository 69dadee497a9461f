#include "modelgen/rewrite/work_function.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/evidence.h"

/* The functions at one depth below the members' calls; NULL where a call has none so deep. */
struct frames {
    const struct trace_frame **items;
    size_t count, capacity;
};

/* Threads of C++'s library begin in it: what they do begins with what the program handed over. */
static const struct trace_frame *frame_from_outside(const struct trace_context *calls,
                                                    size_t depth) {
    size_t own = call_sites_own_frames(calls);
    return depth < own ? &calls->frames[own - 1 - depth] : NULL;
}

static struct frames frames_at(const struct trace *trace, const struct creator_group *group,
                               size_t depth) {
    struct frames frames = {0};
    for (size_t m = 0; m < group->n_members; m++) {
        const struct trace_thread *thread = &trace->threads[group->members[m]];
        for (size_t r = 0; r < thread->n_records; r++)
            if (thread->records[r].context != TRACE_NO_CONTEXT &&
                !creator_groups_is_about_threads(&thread->records[r]))
                *VECTOR_ADD(&frames) =
                    frame_from_outside(&trace->contexts[thread->records[r].context], depth);
    }
    return frames;
}

static bool same_function(const struct trace_frame *frame, const struct trace_frame *other) {
    return frame && other && strcmp(frame->function, other->function) == 0;
}

/* One in the function that has more than half of them, if there is such (Boyer and Moore's majority
 * vote). */
static const struct trace_frame *majority(const struct frames *frames) {
    const struct trace_frame *candidate = NULL;
    size_t lead = 0;
    for (size_t i = 0; i < frames->count; i++) {
        if (lead == 0)
            candidate = frames->items[i];
        lead = same_function(frames->items[i], candidate) ? lead + 1 : lead > 0 ? lead - 1 : 0;
    }
    return candidate;
}

/* A thread's first function is what it does in any case, or the one that it ended with, whose
 * return the compiler has made its own; others may be there only to lock a mutex. */
const char *work_function_common(const struct trace *trace, const struct creator_group *group,
                                 size_t depth, bool *makes_several) {
    struct frames frames = frames_at(trace, group, depth);
    const struct trace_frame *common = majority(&frames);
    size_t fits = 0;
    *makes_several = false;
    for (size_t i = 0; i < frames.count; i++) {
        if (!same_function(frames.items[i], common))
            continue;
        fits++;
        *makes_several |= frames.items[i]->offset != common->offset;
    }
    bool is_common = common && (double)fits >= evidence.work_calls * (double)frames.count;
    free(frames.items);
    return is_common ? common->function : NULL;
}

size_t work_function_times_in(const struct trace_context *contexts, uint32_t context,
                              const char *function) {
    if (context == TRACE_NO_CONTEXT)
        return 0;
    const struct trace_context *calls = &contexts[context];
    size_t times = 0;
    for (size_t f = 0; f < calls->n_frames; f++)
        times += strcmp(calls->frames[f].function, function) == 0;
    return times;
}

bool work_function_is_seen_in(const struct sample *sample, const char *outer, const char *inner) {
    for (size_t n = 0; sample && n < sample->n_nodes; n++) {
        int at = (int)n;
        if (strcmp(sample->nodes[n].function, inner) != 0)
            continue;
        while (sample->nodes[at].parent >= 0)
            at = sample->nodes[at].parent;
        if (at != (int)n && strcmp(sample->nodes[at].function, outer) == 0)
            return true;
    }
    return false;
}
