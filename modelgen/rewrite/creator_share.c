#include "modelgen/rewrite/creator_share.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/rewrite/creator_commands.h"
#include "modelgen/rewrite/work_function.h"

/* Between creating members and joining the first of them: the creator's events [from, to). */
struct stay {
    size_t from, to;
};

struct stays {
    struct stay *items;
    size_t count, capacity;
};

static struct stays find_stays(const struct trace *trace, const struct creator_groups *groups,
                               const struct creator_group *group) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    struct stays stays = {0};
    bool joins = true;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (!creator_groups_is_about_member(groups, group, record))
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
static bool find_part(const struct trace *trace, const struct creator_group *group,
                      const struct stay *stay, const char *function, struct creator_part *part) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    *part = (struct creator_part){.created = stay->from};
    size_t outside =
        work_function_times_in(trace->contexts, creator->records[stay->from - 1].context, function);
    size_t inside = 0;
    for (size_t r = stay->from; r < stay->to; r++) {
        if (work_function_times_in(trace->contexts, creator->records[r].context, function) <=
            outside)
            continue;
        part->first = inside++ ? part->first : r;
        part->last = r + 1;
    }
    if (inside == 0 || (double)inside < evidence.work_calls * (double)(part->last - part->first))
        return false;
    if (part->last < stay->to && ends_section(creator, part->first, part->last))
        part->last++;
    for (size_t r = part->first; r < part->last; r++)
        if (trace_op(&creator->records[r]) == OP_CREATE)
            return false;
    return true;
}

/* In each of the stays: who takes part sometimes only lends a hand. */
static bool find_parts(const struct trace *trace, struct creator_group *group,
                       const struct stays *stays, const char *function) {
    group->parts.count = 0;
    for (size_t i = 0; i < stays->count; i++)
        if (!find_part(trace, group, &stays->items[i], function, VECTOR_ADD(&group->parts)))
            return false;
    return true;
}

/* Threads that make no calls leave only stack samples to tell that the creator does what they do:
 * then that is the longest time between two of its calls. */
static bool find_silent_parts(const struct trace *trace, const struct sample *sample,
                              struct creator_group *group, const struct stays *stays) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    for (size_t m = 0; m < group->n_members; m++)
        if (trace->threads[group->members[m]].n_records > 0)
            return false;
    const char *function = trace->threads[group->members[0]].start_routine;
    if (!work_function_is_seen_in(sample, creator->start_routine, function))
        return false;
    group->parts.count = 0;
    for (size_t i = 0; i < stays->count; i++) {
        struct creator_part *part = VECTOR_ADD(&group->parts);
        *part = (struct creator_part){.created = stays->items[i].from};
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
static bool is_worth_it(const struct trace *trace, const struct creator_group *group) {
    double lives = 0, parts = 0;
    for (size_t m = 0; m < group->n_members; m++) {
        const struct trace_thread *thread = &trace->threads[group->members[m]];
        lives += (double)(thread->end_ns - thread->start_ns);
    }
    for (size_t i = 0; i < group->parts.count; i++)
        parts += (double)(group->parts.items[i].end_ns - group->parts.items[i].begin_ns);
    return parts / (double)group->parts.count >=
           evidence.creator_part * lives / (double)group->n_members;
}

/* The only part the creator has in all the time. */
static struct creator_part *single_part(struct creator_group *group) {
    group->parts.count = 0;
    struct creator_part *part = VECTOR_ADD(&group->parts);
    *part = (struct creator_part){0};
    return part;
}

/* The creator's part ends with the last of the members; `last` is where it is joined. */
static void find_last_join(const struct trace *trace, const struct creator_groups *groups,
                           const struct creator_group *group, struct creator_part *part) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    part->last = creator->n_records;
    part->end_ns = creator->end_ns;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (trace_op(record) != OP_JOIN || !creator_groups_is_about_member(groups, group, record))
            continue;
        part->last = r;
        part->end_ns = trace_end_ns(record);
    }
}

/* Does the creator carry out commands while all of the members are there? */
static bool find_pieces(const struct trace *trace, const struct object_origins *origins,
                        const struct sample *sample, const struct creator_groups *groups,
                        struct creator_group *group, const struct stay *stay) {
    struct creator_commands *commands = &group->commands;
    *commands = creator_commands_find(trace, origins, sample, group->creator, group->members,
                                      group->n_members);
    if (commands->count > 0 && (commands->items[0].first < stay->from ||
                                commands->items[commands->count - 1].last > stay->to))
        commands->count = 0;
    if (commands->count == 0)
        return false;
    struct creator_part *part = single_part(group);
    part->first = commands->items[0].first;
    part->begin_ns = trace_end_ns(&trace->threads[group->creator].records[stay->from - 1]);
    find_last_join(trace, groups, group, part);
    return true;
}

/* Does the creator wait where the threads do? A function that both use to compute tells nothing. */
static bool waits_as_they_do(const struct trace *trace, const struct creator_group *group,
                             const struct worker_functions *functions) {
    const struct trace_record *records = trace->threads[group->creator].records;
    const struct creator_part *part = &group->parts.items[0];
    size_t fits = 0, calls = 0;
    for (size_t r = part->first; r < part->last; r++) {
        if (api_catalog[records[r].api].api_class != CLASS_SYNC)
            continue;
        calls++;
        fits += records[r].context != TRACE_NO_CONTEXT &&
                worker_functions_make(functions, &trace->contexts[records[r].context]);
    }
    return (double)fits >= evidence.work_calls * (double)calls;
}

/* Does the creator meet the members, and do in between what they do? */
static bool find_meetings(const struct trace *trace, const struct sample *sample,
                          struct creator_group *group, const struct stay *stay) {
    if (!sample)
        return false;
    struct creator_barriers *barriers = &group->barriers;
    *barriers = creator_barriers_find(trace, group->creator, group->members, group->n_members,
                                      stay->from, stay->to);
    if (barriers->count == 0)
        return false;
    const struct trace_record *records = trace->threads[group->creator].records;
    *single_part(group) =
        (struct creator_part){.created = stay->from,
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
static const char *find_deeper(const struct trace *trace, struct creator_group *group,
                               const struct stays *stays, const char *start) {
    const char *function = start;
    for (size_t depth = 1; function; depth++) {
        bool makes_several;
        function = work_function_common(trace, group, depth, &makes_several);
        if (function && makes_several && find_parts(trace, group, stays, function))
            return function;
    }
    return NULL;
}

static void find_work_in(const struct trace *trace, const struct object_origins *origins,
                         const struct sample *sample, const struct creator_groups *groups,
                         struct creator_group *group, const struct stays *stays) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    const struct stay *last = &stays->items[stays->count - 1];
    if (find_pieces(trace, origins, sample, groups, group, last))
        return;
    bool makes_several;
    const char *start = work_function_common(trace, group, 0, &makes_several);
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
        struct creator_part *part = &group->parts.items[i];
        part->begin_ns = trace_end_ns(&creator->records[part->first - 1]);
        part->end_ns = part->last < creator->n_records ? creator->records[part->last].start_ns
                                                       : creator->end_ns;
    }
    if (is_worth_it(trace, group))
        group->function = function;
}

void creator_share_find(const struct trace *trace, const struct object_origins *origins,
                        const struct sample *sample, const struct creator_groups *groups,
                        struct creator_group *group) {
    struct stays stays = find_stays(trace, groups, group);
    if (stays.count > 0)
        find_work_in(trace, origins, sample, groups, group, &stays);
    free(stays.items);
}

bool creator_share_is_like_members(const struct trace *trace, const struct creator_groups *groups,
                                   const struct creator_group *group, const uint32_t *places) {
    const struct trace_thread *creator = &trace->threads[group->creator];
    if (strcmp(creator->start_routine, trace->threads[group->members[0]].start_routine) != 0)
        return false;
    bool *is_own = memory_alloc(trace->n_contexts, sizeof *is_own); /* per place */
    bool joins = false;
    for (size_t r = 0; r < creator->n_records; r++) {
        const struct trace_record *record = &creator->records[r];
        if (record->context != TRACE_NO_CONTEXT)
            is_own[places[record->context]] = true;
        joins |=
            trace_op(record) != OP_CREATE && creator_groups_is_about_member(groups, group, record);
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
    return !joins && calls > 0 && (double)alike >= evidence.work_calls * (double)calls;
}
