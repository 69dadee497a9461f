/* All forms of one run while a model is built of it: what the passes of passes.def hand on. */
#ifndef PERSIK_MODELGEN_BUILD_H
#define PERSIK_MODELGEN_BUILD_H

#include "formats/facts.h"
#include "formats/model.h"
#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/calibrate/cache_reload_costs.h"
#include "modelgen/calibrate/cold_starts.h"
#include "modelgen/calibrate/commits.h"
#include "modelgen/calibrate/disk_conditions.h"
#include "modelgen/calibrate/disk_service.h"
#include "modelgen/calibrate/write_back.h"
#include "modelgen/event_counts.h"
#include "modelgen/events/critical_section.h"
#include "modelgen/events/event_log.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/graph/file_mix.h"
#include "modelgen/lower/lower.h"
#include "modelgen/rewrite/openmp_teams.h"
#include "modelgen/rewrite/page_faults.h"
#include "modelgen/rewrite/requests_as_tasks.h"
#include "modelgen/scaling/partition_rule.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/select.h"
#include "modelgen/threads/thread_pools.h"

struct build {
    /* What is given; not owned. */
    const struct trace *recorded;
    const struct facts *facts;                     /* NULL without source */
    const struct sample *sample;                   /* NULL without */
    const struct cache_reload_costs *reload_costs; /* NULL: not known */
    const struct measured_disks *measured_disks;   /* the same */
    double insignificant_share;                    /* of the run */
    size_t max_nodes;
    const struct file_mix *file_mix; /* NULL: as recorded */
    struct doubts *doubts;

    /* EVENTS */
    struct event_log log;       /* the run as the passes so far have it */
    const struct trace *trace;  /* the one that it shows */
    struct event_counts counts; /* of the events after the last pass, for the decision log */

    struct page_faults page_faults;      /* of the events: whose they are */
    struct teams teams;                  /* TEAMS */
    size_t n_sources;                    /* signal handlers that are shown as threads */
    struct outside_queues outside;       /* OUTSIDE */
    struct thread_states *timelines;     /* TIMES: per thread */
    struct cold_starts cold_starts;      /* TIMES */
    double *cpu_ns;                      /* per thread: in all, before any of it is left out */
    struct thread_pools pools;           /* POOLS */
    double ended_ns;                     /* POOLS: CPU time behind the ends of all threads */
    const struct facts *thread_facts;    /* NULL where they do not show how threads are created */
    struct sections sections;            /* SECTIONS */
    struct monitors monitors;            /* MONITORS */
    uint32_t *places;                    /* SITES: per context, see source_places() */
    struct disk_service disks;           /* DISKS */
    struct commits commits;              /* DISKS */
    struct write_back write_back;        /* DISKS */
    struct stream_result streams;        /* STEPS */
    struct mixed_run mixed;              /* STEPS: what is no part of them */
    struct lowered_objects lowered;      /* OBJECTS */
    struct partition_evidence *evidence; /* per pool; filled with the graph */
    struct model *model;                 /* MACHINE, OBJECTS, GRAPH, REPORT, SCALING */
};

/* What lower/ and report/ read. */
static inline struct lower_input build_lower_input(struct build *build) {
    return (struct lower_input){.trace = build->trace,
                                .places = build->places,
                                .disks = &build->disks,
                                .measured_disks = build->measured_disks,
                                .commits = &build->commits,
                                .write_back = &build->write_back,
                                .outside = &build->outside,
                                .facts = build->facts,
                                .thread_facts = build->thread_facts,
                                .pools = &build->pools,
                                .sections = &build->sections,
                                .monitors = &build->monitors,
                                .timelines = build->timelines,
                                .insignificant_share = build->insignificant_share};
}

#endif
