/* All that the scheduler did with the threads of a traced run, in the order of time. */
#ifndef PERSIK_MODELGEN_EVENTS_SCHEDULING_EVENTS_H
#define PERSIK_MODELGEN_EVENTS_SCHEDULING_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

/* Calls and what the scheduler did are told by two clocks, which differ by less than this. */
#define SCHEDULING_CLOCKS_NS 20000u

#define SCHEDULING_CORES 1024 /* what happens on cores above that is left out by who looks */

/* At the same time in this order. */
enum scheduling_kind { SCHEDULING_OFF, SCHEDULING_READY, SCHEDULING_ON };

struct scheduling_event {
    uint64_t time_ns;
    enum scheduling_kind kind;
    uint32_t cpu;  /* READY: where it is going to run */
    uint32_t home; /* READY: where it ran last */
    size_t thread;
    bool preempted;    /* OFF, READY; else it blocked, or was woken */
    uint64_t ran_ns;   /* READY: until when it ran last; 0: never */
    double latency_ns; /* READY: until it runs */
    uint64_t ready_ns; /* ON: since when the thread could have run; 0: no READY told */
};

struct scheduling_events {
    struct scheduling_event *items;
    size_t count, capacity;
};

/* O(n log n) of the slices. scheduling_events_free() ends it. */
struct scheduling_events scheduling_events_collect(const struct trace *trace);
void scheduling_events_free(struct scheduling_events *moments);

#endif
