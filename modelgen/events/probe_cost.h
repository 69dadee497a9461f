/* What one record cost the traced run. In a loop of its own a probe takes what it was measured to
 * take when the run began. With caches and predictors full of the program's own it takes more, and
 * it slows what comes after it. A program that calls now and then does not mind; of one that calls
 * all the time, the runs without probes tell. */
#ifndef PERSIK_MODELGEN_EVENTS_PROBE_COST_H
#define PERSIK_MODELGEN_EVENTS_PROBE_COST_H

#include <stdbool.h>

#include "formats/trace.h"

struct probe_cost {
    double record_ns; /* CPU time */
    double share;     /* of the traced run's CPU time, all records at what one takes in a loop */
    bool is_often;    /* that share matters: the records may well have cost several times that */
    bool is_told;     /* and plain runs tell what they did cost */
};

/* O(1) of the records. */
struct probe_cost probe_cost_find(const struct trace *trace);

#endif
