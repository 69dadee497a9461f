#include "modelgen/rewrite/creator_contexts.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

void creator_contexts_cut(struct context_list *contexts, const struct trace_record *records,
                          size_t n, const char *function) {
    for (size_t r = 0; r < n; r++) {
        if (records[r].context == TRACE_NO_CONTEXT)
            continue;
        struct trace_context *calls = &contexts->items[records[r].context];
        for (size_t f = 0; f < calls->n_frames; f++)
            if (strcmp(calls->frames[f].function, function) == 0) {
                calls->n_frames = f + 1;
                break;
            }
    }
}

void creator_contexts_cut_to_work(struct context_list *contexts, const struct trace_record *records,
                                  size_t n, const struct worker_functions *functions) {
    for (size_t r = 0; r < n; r++) {
        if (records[r].context == TRACE_NO_CONTEXT)
            continue;
        struct trace_context *calls = &contexts->items[records[r].context];
        size_t f = calls->n_frames;
        while (f > 0 && !worker_functions_contain(functions, calls->frames[f - 1].function))
            f--;
        calls->n_frames = f > 0 ? f : calls->n_frames;
    }
}

/* The frames of the call out to the function that is the threads' work; 0: it is made elsewhere. */
static size_t frames_within(const struct worker_functions *functions,
                            const struct trace_context *calls) {
    size_t n = 0;
    for (size_t f = 0; f < calls->n_frames; f++)
        n = worker_functions_contain(functions, calls->frames[f].function) ? f + 1 : n;
    return n;
}

static bool is_same_frame(const struct trace_frame *a, const struct trace_frame *b) {
    return a->offset == b->offset && a->line == b->line && strcmp(a->function, b->function) == 0;
}

/* The context of the same call as in `own`, made within the threads' work where the call of
 * `theirs` is made. TRACE_NO_CONTEXT: none was seen. */
static uint32_t find_context(const struct context_list *contexts,
                             const struct worker_functions *functions, uint32_t own,
                             uint32_t theirs) {
    const struct trace_context *a = &contexts->items[own], *b = &contexts->items[theirs];
    size_t inner = frames_within(functions, a), other = frames_within(functions, b);
    for (size_t c = 0; c < contexts->count && inner > 0; c++) {
        const struct trace_context *calls = &contexts->items[c];
        bool same = calls->n_frames == inner + b->n_frames - other;
        for (size_t f = 0; f < calls->n_frames && same; f++)
            same = is_same_frame(&calls->frames[f],
                                 f < inner ? &a->frames[f] : &b->frames[f - inner + other]);
        if (same)
            return (uint32_t)c;
    }
    return TRACE_NO_CONTEXT;
}

/* Where the member makes such a call at all; TRACE_NO_CONTEXT: nowhere. `is_theirs`: per context.
 */
static uint32_t find_anywhere(const struct context_list *contexts,
                              const struct worker_functions *functions, const bool *is_theirs,
                              uint32_t own) {
    uint32_t there = TRACE_NO_CONTEXT;
    for (size_t c = 0; c < contexts->count && there == TRACE_NO_CONTEXT; c++)
        if (is_theirs[c])
            there = find_context(contexts, functions, own, (uint32_t)c);
    return there;
}

static bool *contexts_of(const struct context_list *contexts, const struct trace_thread *thread) {
    bool *is_theirs = memory_alloc(contexts->count, sizeof *is_theirs);
    for (size_t r = 0; r < thread->n_records; r++)
        if (thread->records[r].context != TRACE_NO_CONTEXT)
            is_theirs[thread->records[r].context] = true;
    return is_theirs;
}

/* Per call of the part: the context of the member's coming to the meeting that it belongs to;
 * TRACE_NO_CONTEXT: none. The caller frees. */
static uint32_t *find_meeting_contexts(const struct creator_group *group,
                                       const struct trace_thread *member,
                                       const struct trace_record *part, size_t n_records) {
    uint32_t *met = memory_alloc(n_records, sizeof *met);
    for (size_t r = 0; r < n_records; r++)
        met[r] = TRACE_NO_CONTEXT;
    for (size_t o = 0; o < group->barriers.count; o++) {
        struct arrivals arrivals = creator_barriers_arrivals(member, group->barriers.items[o]);
        size_t n = 0;
        for (size_t r = 0; r < n_records; r++)
            if (creator_barriers_arrives_at(&part[r], group->barriers.items[o]) &&
                n < arrivals.count)
                met[r] = arrivals.items[n++];
        free(arrivals.items);
    }
    for (size_t r = 1; r < n_records; r++)
        if (met[r] == TRACE_NO_CONTEXT)
            met[r] = met[r - 1];
    return met;
}

void creator_contexts_move(const struct context_list *contexts, const struct creator_group *group,
                           const struct trace_thread *member, struct trace_record *part,
                           size_t n_records) {
    uint32_t *met = find_meeting_contexts(group, member, part, n_records);
    bool *is_theirs = contexts_of(contexts, member);
    struct map moved = MAP_EMPTY; /* own context and that of the meeting -> the one found */
    for (size_t r = 0; r < n_records; r++) {
        uint32_t *own = &part[r].context;
        if (*own == TRACE_NO_CONTEXT || met[r] == TRACE_NO_CONTEXT)
            continue;
        uint64_t key = map_mix(map_mix(31, *own), met[r]);
        int known = map_get(&moved, key, -1);
        if (known < 0) {
            uint32_t there = find_context(contexts, &group->functions, *own, met[r]);
            if (there == TRACE_NO_CONTEXT)
                there = find_anywhere(contexts, &group->functions, is_theirs, *own);
            known = (int)(there == TRACE_NO_CONTEXT ? *own : there);
            map_put(&moved, key, known);
        }
        *own = (uint32_t)known;
    }
    map_free(&moved);
    free(is_theirs);
    free(met);
}
