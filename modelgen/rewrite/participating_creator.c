#include "modelgen/rewrite/participating_creator.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/rewrite/creator_contexts.h"
#include "modelgen/rewrite/creator_groups.h"
#include "modelgen/rewrite/creator_share.h"
#include "modelgen/rewrite/creator_split.h"
#include "modelgen/rewrite/work_function.h"

struct unfolder {
    struct event_log *log;
    struct creator_groups groups;
    struct context_list contexts; /* as they will be: cut where what lies outside differs */
};

/* ---- groups that grew from others ---- */

/* The group that this one grew from: a thread of that one creates it in the midst of the work that
 * is theirs. NULL: somebody else creates it. */
static const struct creator_group *grown_from(const struct unfolder *unfolder,
                                              const struct creator_group *group) {
    if (group->is_next)
        return creator_groups_with(&unfolder->groups, group->creator);
    const struct creator_group *above =
        group->function ? creator_groups_with(&unfolder->groups, group->creator) : NULL;
    const struct trace *trace = &unfolder->log->trace;
    const struct trace_thread *member = &trace->threads[group->members[0]];
    if (!above ||
        strcmp(trace->threads[group->creator].start_routine, member->start_routine) != 0 ||
        work_function_times_in(trace->contexts, group->created_at, group->function) == 0)
        return NULL;
    return above;
}

/* All members are created where the first one of the first group was; one that others grew from has
 * not created them. */
static void join_groups(struct unfolder *unfolder, const struct creator_group *group) {
    struct event_log *log = unfolder->log;
    const struct creator_group *first = group, *above;
    while ((above = grown_from(unfolder, first)))
        first = above;
    uint32_t context = log->trace.threads[first->members[0]].creation_context;
    for (size_t m = 0; m < group->n_members; m++) {
        struct trace_thread *member = event_log_thread(log, group->members[m]);
        member->creator = (int)first->creator;
        member->creation_context = context;
    }
    if (first == group)
        return;
    const struct trace_thread *creator = &log->trace.threads[group->creator];
    bool *dropped = memory_alloc(creator->n_records + 1, sizeof *dropped);
    for (size_t r = 0; r < creator->n_records; r++)
        dropped[r] = creator_groups_is_about_member(&unfolder->groups, group, &creator->records[r]);
    event_log_drop(log, group->creator, dropped);
    free(dropped);
}

/* ---- parts that become threads ---- */

struct splits {
    struct creator_split *items;
    size_t count, capacity;
};

/* Does its creator do a part that becomes a thread? */
static bool has_part(const struct unfolder *unfolder, const struct creator_group *group) {
    return group->commands.count > 0 || group->barriers.count > 0 ||
           (group->function && !grown_from(unfolder, group));
}

/* By creator; the last part first. */
static int compare_splits(const void *left, const void *right) {
    const struct creator_split *a = left, *b = right;
    if (a->group->creator != b->group->creator)
        return a->group->creator < b->group->creator ? -1 : 1;
    if (a->part->first != b->part->first)
        return a->part->first > b->part->first ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static bool meet(const struct creator_split *later, const struct creator_split *earlier) {
    return later->group->creator == earlier->group->creator &&
           later->part->first <= earlier->part->last;
}

/* A part that lies in the midst of another group's is none: the group that was there first has it.
 */
static struct splits find_splits(const struct unfolder *unfolder) {
    const struct creator_groups *groups = &unfolder->groups;
    struct splits all = {0};
    for (size_t i = 0; i < groups->count; i++) {
        const struct creator_group *group = &groups->items[i];
        for (size_t p = 0; has_part(unfolder, group) && p < group->parts.count; p++)
            *VECTOR_ADD(&all) = (struct creator_split){group, &group->parts.items[p]};
    }
    if (all.count > 0)
        qsort(all.items, all.count, sizeof *all.items, compare_splits);
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++) {
        struct creator_split split = all.items[i];
        if (kept == 0 || !meet(&all.items[kept - 1], &split))
            all.items[kept++] = split;
        else if (split.group < all.items[kept - 1].group)
            all.items[kept - 1] = split;
    }
    all.count = kept;
    return all;
}

static void split_all(struct unfolder *unfolder) {
    struct splits splits = find_splits(unfolder);
    size_t end;
    for (size_t i = 0; i < splits.count; i = end) {
        end = i + 1;
        while (end < splits.count &&
               splits.items[end].group->creator == splits.items[i].group->creator)
            end++;
        creator_split_apply(unfolder->log, &unfolder->contexts, &splits.items[i], end - i);
    }
    free(splits.items);
}

/* ---- the whole ---- */

static void unfold(struct unfolder *unfolder) {
    struct event_log *log = unfolder->log;
    size_t n = log->trace.n_contexts;
    unfolder->contexts = (struct context_list){memory_alloc(n, sizeof(struct trace_context)), n};
    for (size_t c = 0; c < n; c++)
        unfolder->contexts.items[c] = log->trace.contexts[c];
    split_all(unfolder);
    for (size_t i = 0; i < unfolder->groups.count; i++) {
        const struct creator_group *group = &unfolder->groups.items[i];
        if (group->function || group->is_next)
            join_groups(unfolder, group);
        for (size_t m = 0; m < group->n_members && group->function; m++) {
            const struct trace_thread *member = &log->trace.threads[group->members[m]];
            creator_contexts_cut(&unfolder->contexts, member->records, member->n_records,
                                 group->function);
        }
    }
    event_log_set_contexts(log, unfolder->contexts.items);
    event_log_settle(log);
}

/* Does it take what comes from outside? */
static bool takes_requests(const struct event_log *log, size_t thread) {
    const struct trace_thread *of = &log->trace.threads[thread];
    for (struct event_cursor at = event_cursor_of_thread(of); event_cursor_next(&at);)
        if (at.event->api == ROLE_get &&
            object_origins_get(&log->origins, at.event->object) == ORIGIN_OUTSIDE)
            return true;
    return false;
}

/* Of a server, requests are the work. A creator that has an event loop like its threads, but takes
 * none, is not one of them; nor is one that takes requests and makes threads to answer them. */
static bool only_one_side_takes_requests(const struct event_log *log,
                                         const struct creator_group *group) {
    return takes_requests(log, group->members[0]) != takes_requests(log, group->creator);
}

void participating_creator_unfold(struct event_log *log, const struct teams *teams,
                                  const struct sample *sample) {
    const struct trace *trace = &log->trace;
    struct unfolder unfolder = {.log = log, .groups = creator_groups_find(trace, teams)};
    uint32_t *places = source_places(trace);
    bool any = false;
    for (size_t i = 0; i < unfolder.groups.count; i++) {
        struct creator_group *group = &unfolder.groups.items[i];
        if (only_one_side_takes_requests(log, group))
            continue;
        creator_share_find(trace, &log->origins, sample, &unfolder.groups, group);
        bool is_shared = group->function || group->commands.count > 0 || group->barriers.count > 0;
        group->is_next =
            !is_shared && creator_share_is_like_members(trace, &unfolder.groups, group, places);
        any |= is_shared || group->is_next;
    }
    free(places);
    if (any)
        unfold(&unfolder);
    creator_groups_free(&unfolder.groups);
}
