#include "modelgen/rewrite/participating_creator.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/rewrite/creator_barriers.h"
#include "modelgen/rewrite/creator_commands.h"

/* So many of the threads' calls are made below the function that is their work: the last ones of
 * some functions are jumps, which hide who made them. */
#define MOST_CALLS 0.95

/* Between creating members and joining the first of them: the creator's records [from, to). */
struct stay {
    size_t from, to;
};

/* What a creator does of the members' work in a stay: its records [first, last), may be none.
 * `created` is the first record after it has created them. */
struct part {
    size_t created, first, last;
    uint64_t begin_ns, end_ns;
};

/* Threads that one thread creates at one place, all at once or again and again when it has joined
 * those before. */
struct group {
    size_t creator;
    size_t *members; /* owned */
    size_t n_members, capacity;
    const char *function; /* their work, which the creator does too; NULL: it does not */
    bool is_next;         /* the creator is one of them: each creates another and goes on */
    struct {
        size_t count, capacity;
        struct part *items; /* owned; one for each stay, or one for all */
    } parts;
    /* How the creator does it: command by command, or between meetings; else none. */
    struct creator_commands commands;
    struct creator_barriers barriers;
    struct worker_functions functions; /* the work, where they meet */
};

struct group_list {
    struct group *items;
    size_t count, capacity;
    int *group_of; /* per thread of the trace; -1: none */
};

struct stays {
    struct stay *items;
    size_t count, capacity;
};

static bool is_about_threads(const struct trace_record *record) {
    return trace_op(record) == OP_CREATE || trace_op(record) == OP_JOIN ||
           trace_op(record) == OP_TRYJOIN;
}

/* Threads of C++'s library begin in it: what they do begins with what the program handed over. */
static const struct trace_frame *frame_from_outside(const struct trace_context *calls,
                                                    size_t depth) {
    size_t own = call_sites_own_frames(calls);
    return depth < own ? &calls->frames[own - 1 - depth] : NULL;
}

/* ---- who is created together ---- */

/* One place, however deep a function that calls itself had got. */
static bool same_place(const struct trace_context *a, const struct trace_context *b) {
    size_t i = 0, j = 0;
    while (i < a->n_frames && j < b->n_frames) {
        const char *function = a->frames[i].function;
        if (strcmp(function, b->frames[j].function) != 0 ||
            (i == 0 && a->frames[i].line != b->frames[j].line))
            return false;
        while (i < a->n_frames && strcmp(a->frames[i].function, function) == 0)
            i++;
        while (j < b->n_frames && strcmp(b->frames[j].function, function) == 0)
            j++;
    }
    return i == a->n_frames && j == b->n_frames;
}

static struct group *group_of(const struct trace *trace, struct group_list *groups,
                              const struct trace_thread *thread) {
    for (size_t i = 0; i < groups->count; i++) {
        const struct trace_thread *other = &trace->threads[groups->items[i].members[0]];
        if (other->creator == thread->creator &&
            strcmp(other->start_routine, thread->start_routine) == 0 &&
            same_place(&trace->contexts[other->creation_context],
                       &trace->contexts[thread->creation_context]))
            return &groups->items[i];
    }
    struct group *group = VECTOR_ADD(groups);
    group->creator = (size_t)thread->creator;
    return group;
}

/* Members of OpenMP's teams are told apart from their creator already. */
static struct group_list find_groups(const struct teams *teams) {
    const struct trace *trace = teams->trace;
    struct group_list groups = {.group_of = memory_alloc(trace->n_threads, sizeof(int))};
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        groups.group_of[t] = -1;
        if (thread->creator < 0 || thread->creation_context == TRACE_NO_CONTEXT ||
            teams_of(teams, t))
            continue;
        struct group *group = group_of(trace, &groups, thread);
        group->members =
            memory_grow(group->members, group->n_members, &group->capacity, sizeof *group->members);
        group->members[group->n_members++] = t;
        groups.group_of[t] = (int)(group - groups.items);
    }
    return groups;
}

/* The creation or the end of a member of the group? */
static bool is_about_member(const struct group_list *list, const struct group *group,
                            const struct trace_record *record, const struct trace *trace) {
    return is_about_threads(record) && record->value >= 0 &&
           (size_t)record->value < trace->n_threads &&
           list->group_of[record->value] == (int)(group - list->items);
}

/* ---- what their work is ---- */

/* The functions at one depth below the members' calls; NULL where a call has none so deep. */
struct frames {
    const struct trace_frame **items;
    size_t count, capacity;
};

static struct frames frames_at(const struct trace *trace, const struct group *group, size_t depth) {
    struct frames frames = {0};
    for (size_t m = 0; m < group->n_members; m++) {
        const struct trace_thread *thread = &trace->threads[group->members[m]];
        for (size_t r = 0; r < thread->n_records; r++)
            if (thread->records[r].context != TRACE_NO_CONTEXT &&
                !is_about_threads(&thread->records[r]))
                *VECTOR_ADD(&frames) =
                    frame_from_outside(&trace->contexts[thread->records[r].context], depth);
    }
    return frames;
}

static bool same_function(const struct trace_frame *frame, const struct trace_frame *other) {
    return frame && other && strcmp(frame->function, other->function) == 0;
}

/* One in the function that has more than half of them, if there is such. */
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

/* Is there one function at this depth below almost all calls of the members, which makes calls in
 * more than one place? A thread's first function is what it does in any case, or the one that it
 * ended with, whose return the compiler has made its own; others may be there only to lock a mutex.
 */
static const char *common_function(const struct trace *trace, const struct group *group,
                                   size_t depth) {
    struct frames frames = frames_at(trace, group, depth);
    const struct trace_frame *common = majority(&frames);
    size_t fits = 0;
    bool several = false;
    for (size_t i = 0; i < frames.count; i++) {
        if (!same_function(frames.items[i], common))
            continue;
        fits++;
        several |= frames.items[i]->offset != common->offset;
    }
    bool is_common = common && (double)fits >= MOST_CALLS * (double)frames.count;
    free(frames.items);
    return is_common && (several || depth == 0) ? common->function : NULL;
}

static size_t times_in(const struct trace *trace, uint32_t context, const char *function) {
    if (context == TRACE_NO_CONTEXT)
        return 0;
    const struct trace_context *calls = &trace->contexts[context];
    size_t times = 0;
    for (size_t f = 0; f < calls->n_frames; f++)
        times += strcmp(calls->frames[f].function, function) == 0;
    return times;
}

static struct stays find_stays(const struct trace *trace, const struct group_list *list,
                               const struct group *group) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    struct stays stays = {0};
    bool joins = true;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (!is_about_member(list, group, record, trace))
            continue;
        if (trace_op(record) == OP_CREATE) {
            struct stay *stay = joins ? VECTOR_ADD(&stays) : &stays.items[stays.count - 1];
            *stay = (struct stay){r + 1, creator->n_records};
            joins = false;
        } else if (!joins) {
            stays.items[stays.count - 1].to = r;
            joins = true;
        }
    }
    return stays;
}

/* Is the record at `last` the unlock of what the records [first, last) have left locked? Of a
 * function that ends with it, debug information may say that it is its caller's. */
static bool ends_section(const struct trace_thread *thread, size_t first, size_t last) {
    const struct trace_record *record = &thread->records[last];
    size_t locks = 0, unlocks = 0;
    for (size_t r = first; r < last; r++) {
        bool same = thread->records[r].object == record->object;
        locks += same && trace_is_lock(&thread->records[r]);
        unlocks += same && trace_op(&thread->records[r]) == OP_UNLOCK;
    }
    return trace_op(record) == OP_UNLOCK && locks > unlocks;
}

/* Does the creator enter `function` once more than where it created the members, and do hardly
 * anything else meanwhile? Then that is its part. Threads that it creates meanwhile would have two
 * creators: no part then. */
static bool find_part(const struct trace *trace, const struct group *group, const struct stay *stay,
                      const char *function, struct part *part) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    *part = (struct part){.created = stay->from};
    size_t outside = times_in(trace, creator->records[stay->from - 1].context, function);
    size_t inside = 0;
    for (size_t r = stay->from; r < stay->to; r++) {
        if (times_in(trace, creator->records[r].context, function) <= outside)
            continue;
        part->first = inside++ ? part->first : r;
        part->last = r + 1;
    }
    if (inside == 0 || (double)inside < MOST_CALLS * (double)(part->last - part->first))
        return false;
    if (part->last < stay->to && ends_section(creator, part->first, part->last))
        part->last++;
    for (size_t r = part->first; r < part->last; r++)
        if (trace_op(&creator->records[r]) == OP_CREATE)
            return false;
    return true;
}

/* In each of the stays: who takes part sometimes only lends a hand. */
static bool find_parts(const struct trace *trace, struct group *group, const struct stays *stays,
                       const char *function) {
    group->parts.count = 0;
    for (size_t i = 0; i < stays->count; i++)
        if (!find_part(trace, group, &stays->items[i], function, VECTOR_ADD(&group->parts)))
            return false;
    return true;
}

/* Was a thread that begins with `outer` ever seen in `inner`? */
static bool is_seen_in(const struct sample *sample, const char *outer, const char *inner) {
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

/* Threads that make no calls leave only stack samples to tell that the creator does what they do:
 * then that is the longest time between two of its calls. */
static bool find_silent_parts(const struct trace *trace, const struct sample *sample,
                              struct group *group, const struct stays *stays) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    for (size_t m = 0; m < group->n_members; m++)
        if (trace->threads[group->members[m]].n_records > 0)
            return false;
    const char *function = trace->threads[group->members[0]].start_routine;
    if (!is_seen_in(sample, creator->start_routine, function))
        return false;
    group->parts.count = 0;
    for (size_t i = 0; i < stays->count; i++) {
        struct part *part = VECTOR_ADD(&group->parts);
        *part = (struct part){.created = stays->items[i].from};
        uint64_t longest = 0;
        for (size_t r = stays->items[i].from; r <= stays->items[i].to && r < creator->n_records;
             r++) {
            uint64_t gap = creator->records[r].start_ns - trace_end_ns(&creator->records[r - 1]);
            part->first = part->last = gap > longest ? r : part->first;
            longest = gap > longest ? gap : longest;
        }
        if (longest == 0)
            return false;
    }
    return true;
}

/* On average. */
static bool is_worth_it(const struct trace *trace, const struct group *group) {
    double lives = 0, parts = 0;
    for (size_t m = 0; m < group->n_members; m++) {
        const struct trace_thread *thread = &trace->threads[group->members[m]];
        lives += (double)(thread->end_ns - thread->start_ns);
    }
    for (size_t i = 0; i < group->parts.count; i++)
        parts += (double)(group->parts.items[i].end_ns - group->parts.items[i].begin_ns);
    return parts / (double)group->parts.count >=
           WORKER_FUNCTIONS_SHARE * lives / (double)group->n_members;
}

/* The only part the creator has in all the time. */
static struct part *single_part(struct group *group) {
    group->parts.count = 0;
    struct part *part = VECTOR_ADD(&group->parts);
    *part = (struct part){0};
    return part;
}

/* The creator's part ends with the last of the members; `last` is where it is joined. */
static void find_last_join(const struct trace *trace, const struct group_list *list,
                           const struct group *group, struct part *part) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    part->last = creator->n_records;
    part->end_ns = creator->end_ns;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (trace_op(record) != OP_JOIN || !is_about_member(list, group, record, trace))
            continue;
        part->last = r;
        part->end_ns = trace_end_ns(record);
    }
}

/* Does the creator carry out commands while all of the members are there? */
static bool find_pieces(const struct trace *trace, const struct object_origins *origins,
                        const struct sample *sample, const struct group_list *list,
                        struct group *group, const struct stay *stay) {
    struct creator_commands *commands = &group->commands;
    *commands = creator_commands_find(trace, origins, sample, group->creator, group->members,
                                      group->n_members);
    if (commands->count > 0 && (commands->items[0].first < stay->from ||
                                commands->items[commands->count - 1].last > stay->to))
        commands->count = 0;
    if (commands->count == 0)
        return false;
    struct part *part = single_part(group);
    part->first = commands->items[0].first;
    part->begin_ns = trace_end_ns(&trace->threads[group->creator].records[stay->from - 1]);
    find_last_join(trace, list, group, part);
    return true;
}

/* Does the creator wait where the threads do? A function that both use to compute tells nothing. */
static bool waits_as_they_do(const struct trace *trace, const struct group *group,
                             const struct worker_functions *functions) {
    const struct trace_record *records = trace->threads[group->creator].records;
    const struct part *part = &group->parts.items[0];
    size_t fits = 0, calls = 0;
    for (size_t r = part->first; r < part->last; r++) {
        if (api_catalog[records[r].api].api_class != CLASS_SYNC)
            continue;
        calls++;
        fits += records[r].context != TRACE_NO_CONTEXT &&
                worker_functions_make(functions, &trace->contexts[records[r].context]);
    }
    return (double)fits >= MOST_CALLS * (double)calls;
}

/* Does the creator meet the members, and do in between what they do? */
static bool find_meetings(const struct trace *trace, const struct sample *sample,
                          struct group *group, const struct stay *stay) {
    if (!sample)
        return false;
    struct creator_barriers *barriers = &group->barriers;
    *barriers = creator_barriers_find(trace, group->creator, group->members, group->n_members,
                                      stay->from, stay->to);
    if (barriers->count == 0)
        return false;
    const struct trace_record *records = trace->threads[group->creator].records;
    *single_part(group) = (struct part){.created = stay->from,
                                        .first = barriers->first,
                                        .last = barriers->last,
                                        .begin_ns = records[barriers->first].start_ns,
                                        .end_ns = trace_end_ns(&records[barriers->last - 1])};
    group->functions = worker_functions_find(trace, sample, group->members, group->n_members, NULL);
    if (!is_worth_it(trace, group) || !waits_as_they_do(trace, group, &group->functions) ||
        !worker_functions_run_by_creator(&group->functions, trace, sample, group->creator,
                                         group->members, group->n_members))
        barriers->count = 0;
    return barriers->count > 0;
}

/* The function below their first one, `start`, that is the members' work and the creator's part.
 * NULL: none. */
static const char *find_deeper(const struct trace *trace, struct group *group,
                               const struct stays *stays, const char *start) {
    const char *function = start;
    for (size_t depth = 1; function; depth++) {
        function = common_function(trace, group, depth);
        if (function && find_parts(trace, group, stays, function))
            return function;
    }
    return NULL;
}

static void find_work_in(const struct trace *trace, const struct object_origins *origins,
                         const struct sample *sample, const struct group_list *list,
                         struct group *group, const struct stays *stays) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    const struct stay *last = &stays->items[stays->count - 1];
    if (find_pieces(trace, origins, sample, list, group, last))
        return;
    const char *start = common_function(trace, group, 0);
    const char *function = start && find_parts(trace, group, stays, start) ? start : NULL;
    /* Where all of them meet may be a function below which all calls are made, and yet not their
     * work. */
    if (!function && find_meetings(trace, sample, group, last))
        return;
    if (!function)
        function = find_deeper(trace, group, stays, start);
    if (!function && find_silent_parts(trace, sample, group, stays))
        function = trace->threads[group->members[0]].start_routine;
    if (!function)
        return;
    for (size_t i = 0; i < group->parts.count; i++) {
        struct part *part = &group->parts.items[i];
        part->begin_ns = trace_end_ns(&creator->records[part->first - 1]);
        part->end_ns = part->last < creator->n_records ? creator->records[part->last].start_ns
                                                       : creator->end_ns;
    }
    if (is_worth_it(trace, group))
        group->function = function;
}

static void find_work(const struct trace *trace, const struct object_origins *origins,
                      const struct sample *sample, const struct group_list *list,
                      struct group *group) {
    struct stays stays = find_stays(trace, list, group);
    if (stays.count > 0)
        find_work_in(trace, origins, sample, list, group, &stays);
    free(stays.items);
}

/* Whether the creator is a thread like the members, which starts another one when there is work for
 * it and leaves it to others to wait for that: it runs the same routine and makes nearly all of
 * their calls. */
static bool is_like_members(const struct trace *trace, const struct group_list *list,
                            const struct group *group, const uint32_t *places) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    if (strcmp(creator->start_routine, trace->threads[group->members[0]].start_routine) != 0)
        return false;
    bool *is_own = memory_alloc(trace->n_contexts, sizeof *is_own); /* per place */
    bool joins = false;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (record->context != TRACE_NO_CONTEXT)
            is_own[places[record->context]] = true;
        joins |= trace_op(record) != OP_CREATE && is_about_member(list, group, record, trace);
    }
    size_t calls = 0, alike = 0;
    for (size_t m = 0; m < group->n_members; m++) {
        const struct trace_thread *thread = &trace->threads[group->members[m]];
        calls += thread->n_records;
        for (size_t r = 0; r < thread->n_records; r++)
            alike += thread->records[r].context != TRACE_NO_CONTEXT &&
                     is_own[places[thread->records[r].context]];
    }
    free(is_own);
    return !joins && calls > 0 && (double)alike >= MOST_CALLS * (double)calls;
}

/* ---- the trace made of it ---- */

struct unfolder {
    const struct trace *from;
    struct participating_creator *result;
    struct group_list list;
};

static const struct group *group_with(const struct unfolder *unfolder, size_t thread) {
    int group = unfolder->list.group_of[thread];
    return group < 0 ? NULL : &unfolder->list.items[group];
}

/* The group that this one grew from: a thread of that one creates it in the midst of the work that
 * is theirs. NULL: somebody else creates it. */
static const struct group *grown_from(const struct unfolder *unfolder, const struct group *group) {
    if (group->is_next)
        return group_with(unfolder, group->creator);
    const struct group *above = group->function ? group_with(unfolder, group->creator) : NULL;
    const struct trace_thread *threads = unfolder->from->threads;
    const struct trace_thread *member = &threads[group->members[0]];
    return above && strcmp(threads[group->creator].start_routine, member->start_routine) == 0 &&
                   times_in(unfolder->from, member->creation_context, group->function) > 0
               ? above
               : NULL;
}

/* The thread's records are to be changed, and may become `more`. */
static struct trace_thread *own_records(struct unfolder *unfolder, size_t index, size_t more) {
    struct trace_thread *thread = &unfolder->result->made->threads[index];
    if (unfolder->result->is_own[index]) {
        thread->records =
            memory_resize(thread->records, thread->n_records + more, sizeof *thread->records);
        return thread;
    }
    struct trace_record *records = memory_alloc(thread->n_records + more, sizeof *thread->records);
    if (thread->n_records)
        memcpy(records, thread->records, thread->n_records * sizeof *records);
    thread->records = records;
    struct trace_slice *slices = memory_alloc(thread->n_slices, sizeof *slices);
    if (thread->n_slices)
        memcpy(slices, thread->slices, thread->n_slices * sizeof *slices);
    thread->slices = slices;
    unfolder->result->is_own[index] = true;
    return thread;
}

/* All members are created where the first one of the first group was; one that others grew from has
 * not created them. */
static void join_groups(struct unfolder *unfolder, const struct group *group) {
    struct trace_thread *threads = unfolder->result->made->threads;
    const struct group *first = group, *above;
    while ((above = grown_from(unfolder, first)))
        first = above;
    for (size_t m = 0; m < group->n_members; m++) {
        threads[group->members[m]].creator = (int)first->creator;
        threads[group->members[m]].creation_context = threads[first->members[0]].creation_context;
    }
    if (first == group)
        return;
    struct trace_thread *creator = own_records(unfolder, group->creator, 0);
    size_t kept = 0;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (!is_about_member(&unfolder->list, group, record, unfolder->from))
            creator->records[kept++] = *record;
    }
    creator->n_records = kept;
}

/* The group's function becomes the outermost one of its calls: what lies outside of it differs
 * between the creator and the others. */
static void cut_contexts(struct trace *made, const struct trace_thread *thread,
                         const char *function) {
    for (size_t r = 0; r < thread->n_records; r++) {
        if (thread->records[r].context == TRACE_NO_CONTEXT)
            continue;
        struct trace_context *calls = &made->contexts[thread->records[r].context];
        for (size_t f = 0; f < calls->n_frames; f++)
            if (strcmp(calls->frames[f].function, function) == 0) {
                calls->n_frames = f + 1;
                break;
            }
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
static uint32_t find_context(const struct trace *made, const struct worker_functions *functions,
                             uint32_t own, uint32_t theirs) {
    const struct trace_context *a = &made->contexts[own], *b = &made->contexts[theirs];
    size_t inner = frames_within(functions, a), other = frames_within(functions, b);
    for (size_t c = 0; c < made->n_contexts && inner > 0; c++) {
        const struct trace_context *calls = &made->contexts[c];
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
static uint32_t find_anywhere(const struct trace *made, const struct worker_functions *functions,
                              const bool *is_theirs, uint32_t own) {
    uint32_t there = TRACE_NO_CONTEXT;
    for (size_t c = 0; c < made->n_contexts && there == TRACE_NO_CONTEXT; c++)
        if (is_theirs[c])
            there = find_context(made, functions, own, (uint32_t)c);
    return there;
}

static bool *contexts_of(const struct trace *made, const struct trace_thread *thread) {
    bool *is_theirs = memory_alloc(made->n_contexts, sizeof *is_theirs);
    for (size_t r = 0; r < thread->n_records; r++)
        if (thread->records[r].context != TRACE_NO_CONTEXT)
            is_theirs[thread->records[r].context] = true;
    return is_theirs;
}

/* Per record of the part: the context of the member's coming to the meeting that it belongs to;
 * TRACE_NO_CONTEXT: none. The caller frees. */
static uint32_t *find_meeting_contexts(const struct group *group, const struct trace_thread *member,
                                       const struct trace_thread *part) {
    uint32_t *contexts = memory_alloc(part->n_records, sizeof *contexts);
    for (size_t r = 0; r < part->n_records; r++)
        contexts[r] = TRACE_NO_CONTEXT;
    for (size_t o = 0; o < group->barriers.count; o++) {
        struct arrivals arrivals = creator_barriers_arrivals(member, group->barriers.items[o]);
        size_t n = 0;
        for (size_t r = 0; r < part->n_records; r++)
            if (creator_barriers_arrives_at(&part->records[r], group->barriers.items[o]) &&
                n < arrivals.count)
                contexts[r] = arrivals.items[n++];
        free(arrivals.items);
    }
    for (size_t r = 1; r < part->n_records; r++)
        if (contexts[r] == TRACE_NO_CONTEXT)
            contexts[r] = contexts[r - 1];
    return contexts;
}

/* Where a member makes the calls that the part makes: those of a meeting where it came to the same
 * one, others wherever it makes such. */
static void move_contexts(const struct trace *made, const struct group *group,
                          struct trace_thread *part) {
    const struct trace_thread *member = &made->threads[group->members[0]];
    uint32_t *barriers = find_meeting_contexts(group, member, part);
    bool *is_theirs = contexts_of(made, member);
    struct map moved = MAP_EMPTY; /* own context and that of the meeting -> the one found */
    for (size_t r = 0; r < part->n_records; r++) {
        uint32_t *own = &part->records[r].context;
        if (*own == TRACE_NO_CONTEXT || barriers[r] == TRACE_NO_CONTEXT)
            continue;
        uint64_t key = map_mix(map_mix(31, *own), barriers[r]);
        int known = map_get(&moved, key, -1);
        if (known < 0) {
            uint32_t there = find_context(made, &group->functions, *own, barriers[r]);
            if (there == TRACE_NO_CONTEXT)
                there = find_anywhere(made, &group->functions, is_theirs, *own);
            known = (int)(there == TRACE_NO_CONTEXT ? *own : there);
            map_put(&moved, key, known);
        }
        *own = (uint32_t)known;
    }
    map_free(&moved);
    free(is_theirs);
    free(barriers);
}

/* A thread for the creator's part, as yet without records and slices. */
static void start_part(struct participating_creator *result, const struct group *group,
                       const struct part *part, size_t index) {
    struct trace *made = result->made;
    int recorded = result->origins[group->creator].recorded;
    result->made_origins[index] = (struct thread_origin){recorded, (int)group->creator};
    struct trace_thread *thread = &made->threads[index];
    *thread = made->threads[group->creator];
    thread->index = (int)index;
    thread->creator = (int)group->creator;
    thread->start_routine = made->threads[group->members[0]].start_routine;
    thread->creation_context = made->threads[group->members[0]].creation_context;
    thread->start_ns = part->begin_ns;
    thread->end_ns = part->end_ns;
    thread->end_seen = true;
    thread->lost_records = 0;
    thread->records = NULL;
    thread->n_records = 0;
    thread->slices = NULL;
    thread->n_slices = 0;
}

/* What is left of the creator: it creates the thread that does its part, as it has created the
 * others, and waits for it. */
static void write_rest_around(struct trace_thread *creator, const struct part *part,
                              const struct trace_thread *made, size_t index) {
    struct trace_thread rest = *creator;
    rest.slices = NULL;
    rest.n_slices = 0;
    thread_states_copy_slices(creator, 0, part->begin_ns, &rest);
    thread_states_copy_slices(creator, part->end_ns, UINT64_MAX, &rest);
    free(creator->slices);
    struct trace_record create = {.start_ns = trace_end_ns(&rest.records[part->created - 1]),
                                  .api = API_pthread_create,
                                  .context = made->creation_context,
                                  .value = (int32_t)index};
    struct trace_record join = {.start_ns = part->begin_ns,
                                .duration_ns = part->end_ns - part->begin_ns,
                                .api = API_pthread_join,
                                .flags = TRACE_WAITED,
                                .context = rest.records[part->first - 1].context,
                                .value = (int32_t)index};
    memmove(&rest.records[part->first + 2], &rest.records[part->last],
            (rest.n_records - part->last) * sizeof *rest.records);
    rest.n_records = rest.n_records - (part->last - part->first) + 2;
    memmove(&rest.records[part->created + 1], &rest.records[part->created],
            (part->first - part->created) * sizeof *rest.records);
    rest.records[part->created] = create;
    rest.records[part->first + 1] = join;
    *creator = rest;
}

/* The creator's part becomes one more thread. */
static void split_creator(struct unfolder *unfolder, const struct group *group,
                          const struct part *part) {
    struct trace *made = unfolder->result->made;
    size_t index = made->n_threads++;
    struct trace_thread *creator = own_records(unfolder, group->creator, 2);
    struct trace_thread *thread = &made->threads[index];
    start_part(unfolder->result, group, part, index);
    thread->n_records = part->last - part->first;
    thread->records = memory_alloc(thread->n_records, sizeof *thread->records);
    memcpy(thread->records, &creator->records[part->first],
           thread->n_records * sizeof *thread->records);
    thread_states_copy_slices(creator, part->begin_ns, part->end_ns, thread);
    if (group->function)
        cut_contexts(made, thread, group->function);
    else
        move_contexts(made, group, thread);
    unfolder->result->is_own[index] = true;
    write_rest_around(creator, part, thread, index);
}

/* ---- the creator's pieces ---- */

/* The functions that carry out a command become the outermost ones of its calls. */
static void cut_piecewise(struct trace *made, const struct trace_thread *thread,
                          const struct creator_commands *commands) {
    for (size_t r = 0; r < thread->n_records; r++) {
        if (thread->records[r].context == TRACE_NO_CONTEXT)
            continue;
        struct trace_context *calls = &made->contexts[thread->records[r].context];
        size_t f = calls->n_frames;
        while (f > 0 &&
               !worker_functions_contain(&commands->functions, calls->frames[f - 1].function))
            f--;
        calls->n_frames = f > 0 ? f : calls->n_frames;
    }
}

static void add_like(struct record_list *list, const struct trace_record *like, uint64_t start_ns,
                     uint64_t end_ns) {
    struct trace_record *record = VECTOR_ADD(list);
    *record = *like;
    record->start_ns = start_ns;
    record->duration_ns = end_ns - start_ns;
}

/* Calls like a thread's own: what it waits for comes at `end_ns`. */
static void add_calls(struct record_list *list, const struct command_calls *calls,
                      uint64_t start_ns, uint64_t end_ns) {
    bool waits = calls->count > 1;
    for (size_t i = 0; i < calls->count; i++) {
        const struct trace_record *like = &calls->items[i];
        bool is_wait = calls->count == 1 || trace_is_condition_wait(like);
        uint64_t from_ns = waits || is_wait ? start_ns : end_ns;
        add_like(list, like, from_ns, is_wait ? end_ns : from_ns);
        waits &= !is_wait;
    }
}

/* What the thread that does the pieces does: as the others it takes commands, and has carried them
 * out, until no more come. */
static void write_part(const struct group *group, const struct trace_thread *creator,
                       struct record_list *list) {
    const struct creator_commands *commands = &group->commands;
    const struct part *whole = &group->parts.items[0];
    uint64_t since_ns = whole->begin_ns;
    for (size_t p = 0; p < commands->count; p++) {
        const struct creator_command *command = &commands->items[p];
        add_calls(list, &commands->take, since_ns, command->begin_ns);
        for (size_t r = command->first; r < command->last; r++)
            *VECTOR_ADD(list) = creator->records[r];
        add_calls(list, command->is_last ? &commands->done_last : &commands->done, command->end_ns,
                  command->end_ns);
        since_ns = command->end_ns;
    }
    add_calls(list, &commands->end, since_ns, whole->end_ns);
}

/* What remains of the creator: it gives one more command, where each is given by itself, begins to
 * wait at once, and joins the thread that does the pieces behind the last of the others. */
static void write_rest(const struct group *group, const struct trace_thread *creator, size_t part,
                       struct record_list *list) {
    const struct creator_commands *commands = &group->commands;
    size_t next = 0;
    for (size_t r = 0; r < creator->n_records; r++) {
        if (next < commands->count && r == commands->items[next].first) {
            const struct creator_command *command = &commands->items[next++];
            const struct command_calls slot = {&creator->records[command->last], 1};
            if (commands->channel)
                add_like(list, &creator->records[r - 1], command->begin_ns, command->begin_ns);
            add_calls(list, commands->channel ? &slot : &commands->await, command->begin_ns,
                      command->on_ns);
            r = command->after - 1;
            continue;
        }
        *VECTOR_ADD(list) = creator->records[r];
        if (r == group->parts.items[0].last) {
            struct trace_record *joins = VECTOR_ADD(list);
            *joins = creator->records[r];
            joins->start_ns = trace_end_ns(&creator->records[r]);
            joins->duration_ns = 0;
            joins->value = (int32_t)part;
        }
    }
}

static void split_pieces(struct unfolder *unfolder, const struct group *group) {
    struct trace *made = unfolder->result->made;
    size_t index = made->n_threads++;
    struct trace_thread *creator = own_records(unfolder, group->creator, 0);
    struct trace_thread *part = &made->threads[index];
    const struct creator_commands *commands = &group->commands;
    struct record_list part_records = {0}, rest_records = {0};
    write_part(group, creator, &part_records);
    write_rest(group, creator, index, &rest_records);
    start_part(unfolder->result, group, &group->parts.items[0], index);
    part->records = part_records.items;
    part->n_records = part_records.count;
    unfolder->result->is_own[index] = true;

    struct trace_thread rest = *creator;
    rest.slices = NULL;
    rest.n_slices = 0;
    uint64_t since_ns = 0;
    for (size_t p = 0; p < commands->count; p++) {
        const struct creator_command *command = &commands->items[p];
        thread_states_copy_slices(creator, command->begin_ns, command->end_ns, part);
        thread_states_copy_slices(creator, since_ns, command->begin_ns, &rest);
        since_ns = command->end_ns;
    }
    thread_states_copy_slices(creator, since_ns, UINT64_MAX, &rest);
    free(creator->slices);
    free(creator->records);
    rest.records = rest_records.items;
    rest.n_records = rest_records.count;
    *creator = rest;
    cut_piecewise(made, part, commands);
    for (size_t m = 0; m < group->n_members; m++)
        cut_piecewise(made, &made->threads[group->members[m]], commands);
}

static struct thread_origin *copy_origins(const struct participating_creator *result,
                                          size_t n_threads, size_t more) {
    struct thread_origin *made = memory_alloc(n_threads + more, sizeof *made);
    for (size_t t = 0; t < n_threads; t++)
        made[t] = thread_origin_of(result->origins, t);
    return made;
}

static struct trace *copy_for(const struct trace *trace, size_t more) {
    struct trace *made = memory_alloc(1, sizeof *made);
    *made = *trace;
    made->threads = memory_alloc(trace->n_threads + more, sizeof *made->threads);
    memcpy(made->threads, trace->threads, trace->n_threads * sizeof *made->threads);
    made->contexts = memory_alloc(trace->n_contexts, sizeof *made->contexts);
    memcpy(made->contexts, trace->contexts, trace->n_contexts * sizeof *made->contexts);
    return made;
}

/* Does its creator do a part that becomes a thread? */
static bool has_part(const struct unfolder *unfolder, const struct group *group) {
    return group->commands.count > 0 || group->barriers.count > 0 ||
           (group->function && !grown_from(unfolder, group));
}

/* A part that is to become a thread. */
struct split {
    const struct group *group;
    const struct part *part;
};

struct splits {
    struct split *items;
    size_t count, capacity;
};

/* By creator; the last part first: what comes before stays where it is. */
static int compare_splits(const void *left, const void *right) {
    const struct split *a = left, *b = right;
    if (a->group->creator != b->group->creator)
        return a->group->creator < b->group->creator ? -1 : 1;
    if (a->part->first != b->part->first)
        return a->part->first > b->part->first ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static bool meet(const struct split *later, const struct split *earlier) {
    return later->group->creator == earlier->group->creator &&
           later->part->first <= earlier->part->last;
}

/* A part that lies in the midst of another group's is none: the group that was there first has it.
 */
static struct splits find_splits(const struct unfolder *unfolder) {
    const struct group_list *list = &unfolder->list;
    struct splits all = {0};
    for (size_t i = 0; i < list->count; i++)
        for (size_t p = 0; has_part(unfolder, &list->items[i]) && p < list->items[i].parts.count;
             p++)
            *VECTOR_ADD(&all) = (struct split){&list->items[i], &list->items[i].parts.items[p]};
    if (all.count > 0)
        qsort(all.items, all.count, sizeof *all.items, compare_splits);
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++) {
        struct split split = all.items[i];
        if (kept == 0 || !meet(&all.items[kept - 1], &split))
            all.items[kept++] = split;
        else if (split.group < all.items[kept - 1].group)
            all.items[kept - 1] = split;
    }
    all.count = kept;
    return all;
}

static void unfold(struct unfolder *unfolder) {
    struct participating_creator *result = unfolder->result;
    const struct group_list *list = &unfolder->list;
    struct splits splits = find_splits(unfolder);
    result->trace = result->made = copy_for(unfolder->from, splits.count);
    result->origins = result->made_origins =
        copy_origins(result, unfolder->from->n_threads, splits.count);
    result->is_own = memory_alloc(unfolder->from->n_threads + splits.count, sizeof *result->is_own);
    for (size_t i = 0; i < splits.count; i++)
        if (splits.items[i].group->commands.count > 0)
            split_pieces(unfolder, splits.items[i].group);
        else
            split_creator(unfolder, splits.items[i].group, splits.items[i].part);
    free(splits.items);
    for (size_t i = 0; i < list->count; i++) {
        const struct group *group = &list->items[i];
        if (group->function || group->is_next)
            join_groups(unfolder, group);
        for (size_t m = 0; m < group->n_members && group->function; m++)
            cut_contexts(result->made, &result->made->threads[group->members[m]], group->function);
    }
}

struct participating_creator participating_creator_unfold(const struct teams *teams,
                                                          const struct object_origins *origins,
                                                          const struct sample *sample) {
    const struct trace *trace = teams->trace;
    struct participating_creator result = {.trace = trace, .origins = teams->origins};
    struct unfolder unfolder = {.from = trace, .result = &result, .list = find_groups(teams)};
    uint32_t *places = source_places(trace);
    bool any = false;
    for (size_t i = 0; i < unfolder.list.count; i++) {
        struct group *group = &unfolder.list.items[i];
        find_work(trace, origins, sample, &unfolder.list, group);
        bool is_shared = group->function || group->commands.count > 0 || group->barriers.count > 0;
        group->is_next = !is_shared && is_like_members(trace, &unfolder.list, group, places);
        any |= is_shared || group->is_next;
    }
    free(places);
    if (any)
        unfold(&unfolder);
    for (size_t i = 0; i < unfolder.list.count; i++) {
        free(unfolder.list.items[i].members);
        free(unfolder.list.items[i].parts.items);
        creator_commands_free(&unfolder.list.items[i].commands);
        creator_barriers_free(&unfolder.list.items[i].barriers);
        worker_functions_free(&unfolder.list.items[i].functions);
    }
    free(unfolder.list.items);
    free(unfolder.list.group_of);
    return result;
}

void participating_creator_free(struct participating_creator *result) {
    for (size_t t = 0; result->made && t < result->made->n_threads; t++)
        if (result->is_own[t]) {
            free(result->made->threads[t].records);
            free(result->made->threads[t].slices);
        }
    if (result->made) {
        free(result->made->threads);
        free(result->made->contexts);
    }
    free(result->made);
    free(result->made_origins);
    free(result->is_own);
}
