/* Threads that one thread creates at one place, all at once or again and again when it has joined
 * those before; and what is found out about the part that their creator has in their work. */
#ifndef PERSIK_MODELGEN_REWRITE_CREATOR_GROUPS_H
#define PERSIK_MODELGEN_REWRITE_CREATOR_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"
#include "modelgen/rewrite/creator_barriers.h"
#include "modelgen/rewrite/creator_command.h"
#include "modelgen/rewrite/openmp_teams.h"

/* What a creator does of the members' work while they are there: its events [first, last), may be
 * none. `created` is the first event after it has created them. */
struct creator_part {
    size_t created, first, last;
    uint64_t begin_ns, end_ns;
};

struct creator_group {
    size_t creator;
    size_t *members; /* owned */
    size_t n_members, capacity;
    uint32_t created_at;  /* context in which the first one was created */
    const char *function; /* their work, which the creator does too; NULL: it does not */
    bool is_next;         /* the creator is one of them: each creates another and goes on */
    struct {
        size_t count, capacity;
        struct creator_part *items; /* owned; one for each time they are there, or one for all */
    } parts;
    /* How the creator does it: command by command, or between meetings; else none. */
    struct creator_commands commands;
    struct creator_barriers barriers;
    struct worker_functions functions; /* the work, where they meet */
};

struct creator_groups {
    struct creator_group *items;
    size_t count, capacity;
    size_t n_threads;
    int *group_of; /* per thread; -1: none */
};

/* The groups of the trace, of which nothing else is known yet. Members of OpenMP's teams are in
 * none: they are told apart from their creator already. creator_groups_free() ends it. */
struct creator_groups creator_groups_find(const struct trace *trace, const struct teams *teams);
void creator_groups_free(struct creator_groups *groups);

/* Does the call create a thread, or wait for its end? */
bool creator_groups_is_about_threads(const struct trace_record *record);

/* Is it the creation or the end of a member of the group? */
bool creator_groups_is_about_member(const struct creator_groups *groups,
                                    const struct creator_group *group,
                                    const struct trace_record *record);

/* The group that the thread is a member of; NULL: none. */
const struct creator_group *creator_groups_with(const struct creator_groups *groups, size_t thread);

#endif
