#include "modelgen/rewrite/creator_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/rewrite/creator_commands.h"

bool creator_groups_is_about_threads(const struct trace_record *record) {
    return trace_op(record) == OP_CREATE || trace_op(record) == OP_JOIN ||
           trace_op(record) == OP_TRYJOIN;
}

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

static struct creator_group *group_of(const struct trace *trace, struct creator_groups *groups,
                                      const struct trace_thread *thread) {
    for (size_t i = 0; i < groups->count; i++) {
        const struct trace_thread *other = &trace->threads[groups->items[i].members[0]];
        if (other->creator == thread->creator &&
            strcmp(other->start_routine, thread->start_routine) == 0 &&
            same_place(&trace->contexts[other->creation_context],
                       &trace->contexts[thread->creation_context]))
            return &groups->items[i];
    }
    struct creator_group *group = VECTOR_ADD(groups);
    group->creator = (size_t)thread->creator;
    group->created_at = thread->creation_context;
    return group;
}

struct creator_groups creator_groups_find(const struct trace *trace, const struct teams *teams) {
    struct creator_groups groups = {.n_threads = trace->n_threads,
                                    .group_of = memory_alloc(trace->n_threads, sizeof(int))};
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        groups.group_of[t] = -1;
        if (thread->creator < 0 || thread->creation_context == TRACE_NO_CONTEXT ||
            teams_of(teams, t))
            continue;
        struct creator_group *group = group_of(trace, &groups, thread);
        group->members =
            memory_grow(group->members, group->n_members, &group->capacity, sizeof *group->members);
        group->members[group->n_members++] = t;
        groups.group_of[t] = (int)(group - groups.items);
    }
    return groups;
}

void creator_groups_free(struct creator_groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        struct creator_group *group = &groups->items[i];
        free(group->members);
        free(group->parts.items);
        creator_commands_free(&group->commands);
        creator_barriers_free(&group->barriers);
        worker_functions_free(&group->functions);
    }
    free(groups->items);
    free(groups->group_of);
}

bool creator_groups_is_about_member(const struct creator_groups *groups,
                                    const struct creator_group *group,
                                    const struct trace_record *record) {
    return creator_groups_is_about_threads(record) && record->value >= 0 &&
           (size_t)record->value < groups->n_threads &&
           groups->group_of[record->value] == (int)(group - groups->items);
}

const struct creator_group *creator_groups_with(const struct creator_groups *groups,
                                                size_t thread) {
    int group = groups->group_of[thread];
    return group < 0 ? NULL : &groups->items[group];
}
