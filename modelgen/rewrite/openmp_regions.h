/* OpenMP's parallel regions in a trace: each time one was executed, by which parts of which
 * threads, and the teams that these make. */
#ifndef PERSIK_MODELGEN_REWRITE_OPENMP_REGIONS_H
#define PERSIK_MODELGEN_REWRITE_OPENMP_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/rewrite/openmp_team.h"

/* A member's part in an execution: records between entering and leaving, both excluded. */
struct member_interval {
    size_t thread, enter, leave; /* enter, leave: records */
    bool inside;                 /* another part of the same thread */
    bool nests;                  /* a region in it may have other teams elsewhere */
};

struct member_interval_list {
    struct member_interval *items;
    size_t count, capacity;
};

struct execution {
    size_t thread, fork; /* record of the forking thread */
    size_t part;         /* its own */
    int team;            /* -1: stays part of the forking thread */
    struct member_interval_list members;
};

struct execution_list {
    struct execution *items;
    size_t count, capacity;
};

struct regions {
    const struct trace *trace;
    struct member_interval_list intervals;
    struct execution_list executions;
    struct {
        struct team *items;
        size_t count, capacity;
    } teams;
    double *forks;   /* executions of each team */
    bool *is_worker; /* per thread: libgomp's own */
};

/* What is left out goes into the model's notes. regions_free() ends it. */
struct regions regions_find(const struct trace *trace, struct model *model);

/* Frees all but the teams' items, which outlive the search. */
void regions_free(struct regions *regions);

static inline const struct trace_record *regions_record(const struct regions *regions,
                                                        size_t thread, size_t record) {
    return &regions->trace->threads[thread].records[record];
}

/* A member begins a task. */
bool regions_is_task(const struct trace_record *record);

#endif
