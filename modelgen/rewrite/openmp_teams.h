/* Teams: OpenMP's parallel regions unfolded into threads of their own.
 *
 * A region is forked by one thread, runs in every member of the team (the forking thread included),
 * and ends when all have done their part. libgomp keeps its threads from region to region, but that
 * is its own affair: what the program says is "T threads come, do this, and are waited for". So
 * each member's part becomes a thread that the forking one creates and joins; all executions of a
 * region at one place make a pool, created anew each time. Everything after works on such a trace
 * as on any other. */
#ifndef PERSIK_MODELGEN_REWRITE_OPENMP_TEAMS_H
#define PERSIK_MODELGEN_REWRITE_OPENMP_TEAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/events/event_log.h"
#include "modelgen/rewrite/openmp_team.h"

struct teams {
    size_t n_threads;
    int *team_of; /* per thread: index of the team, -1: a thread of its own */
    size_t n_teams;
    struct team *teams;
};

/* All threads are of their own. teams_free() ends it. */
struct teams teams_none(const struct trace *trace);

/* Shows the members' parts as threads. Notes what is not followed exactly. teams_free() ends it. */
struct teams teams_unfold(struct event_log *log, struct model *model);

/* The team that the thread is a member of; NULL: none. Threads that were added since are threads of
 * their own. */
const struct team *teams_of(const struct teams *teams, size_t thread);

void teams_free(struct teams *teams);

#endif
