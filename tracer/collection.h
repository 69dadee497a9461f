/* The runs of stage 3 and what is kept of them: what the making of a traced run, of plain runs and
 * of the trace have in common. */
#ifndef PERSIK_TRACER_COLLECTION_H
#define PERSIK_TRACER_COLLECTION_H

#include "base/run_end.h"
#include "formats/trace.h"
#include "host/pace.h"
#include "host/quota.h"
#include "host/wakeups.h"
#include "tracer/block.h"
#include "tracer/evictor.h"
#include "tracer/handlers.h"
#include "tracer/launch.h"
#include "tracer/looks.h"
#include "tracer/pages.h"
#include "tracer/program.h"
#include "tracer/recorder.h"
#include "tracer/same_work.h"
#include "tracer/sched.h"
#include "tracer/segment.h"
#include "tracer/tracer.h"
#include "tracer/uprobes.h"
#include "tracer/wraps.h"

struct run_list {
    size_t count, capacity;
    struct trace_plain_run *items;
};

/* All that the stage has of its runs. Of a run with emptied caches one of its own. */
struct collection {
    const struct tracer_options *options;
    struct program program;
    char *raw; /* folder of what is shared with the probe library */
    struct segment *segment;
    struct wraps wraps;
    struct looks looks;
    struct uprobes *uprobes;
    struct lacks lacks;
    struct wakeup_costs wakeups;
    struct timebase timebase;
    struct recorder *recorder;
    struct ftrace *ftrace;
    struct sched sched;
    struct handlers handlers;
    struct quota quota; /* throttled_ns: during the traced run */
    struct block block;
    struct pages pages;
    struct launch launch; /* of the traced run */
    int evicts; /* number of this run among those with evictions, from 1 on; 0: it is none */
    struct evictions evictions;
    bool sees_displacement; /* how fast threads displace what others have in a cache can be told */
    struct run_list plain, one_core;
    uint64_t left_cpu_ns;          /* of a run that took too long with one core; 0: none did */
    struct pace_reading pace;      /* of the traced run */
    double fastest_ns[PACE_KINDS]; /* pieces of all runs */
    bool stopped;                  /* no more plain runs */
    double last_run_ns;            /* 0: none yet */
    int slowed;                    /* runs that did not count, as something slowed them */
    bool again;                    /* the traced run is made again: its output has been seen */
    struct run_end first;          /* the first run of all, to which the others are compared */
    struct work work;              /* of the traced run, when its trace is made */
    struct {
        size_t count, capacity;
        struct work *items;
    } evicted; /* the work of the runs with evictions, from 1 on */
};

/* Around each run. NULL and `error`: the user's command before it failed. */
struct pace *collection_begin_run(const struct collection *collection, struct error *error);
struct pace_reading collection_end_run(struct collection *collection, struct pace *pace);

/* Whether a run with this reading does not count. */
bool collection_is_to_repeat(struct collection *collection, struct pace_reading reading);

/* Of this run, if none was before: whether to go on after it. */
int collection_judge_first(struct collection *collection, const struct launch *launch,
                           struct error *error);
bool collection_ends_as_first(const struct collection *collection, const struct launch *launch);

/* The traced run is what the model is made from: one that ended otherwise is worth nothing. */
int collection_judge_traced(struct collection *collection, struct error *error);

/* An environment with `variables` ("NAME=value", allocated, NULL-terminated) in place of those of
 * the same names. The array is allocated, the rest of the strings are ours. */
char **collection_environment(char *const *variables);

#endif
