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
#include "modelgen/rewrite/openmp_team.h"
#include "modelgen/rewrite/thread_origin.h"

/* What a thread made of parts of others does. */
struct record_list {
    struct trace_record *items;
    size_t count, capacity;
};

struct teams {
    const struct trace *trace; /* unfolded; the one given when it has no teams */
    int *team_of;              /* per thread of it: index of the team, -1: a thread of its own */
    size_t n_teams;
    struct team *teams;
    struct trace *made;            /* what `trace` is when it was made here; else NULL */
    struct thread_origin *origins; /* per thread of `made`; NULL where there is none */
};

/* All threads are of their own. `trace` must outlive it. teams_free() ends it. */
struct teams teams_none(const struct trace *trace);

/* `trace` must outlive it. Notes what is not followed exactly. teams_free() ends it. */
struct teams teams_unfold(const struct trace *trace, struct model *model);

/* The team that the thread is a member of; NULL: none. Threads that were added to the trace since
 * are threads of their own. */
const struct team *teams_of(const struct teams *teams, size_t thread);

void teams_free(struct teams *teams);

#endif
