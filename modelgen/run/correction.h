/* The traced run is one run of several of the same configuration, and the only one with probes. The
 * model's CPU demands are made to add up to the median of all, at the usual speed of the cores. */
#ifndef PERSIK_MODELGEN_RUN_CORRECTION_H
#define PERSIK_MODELGEN_RUN_CORRECTION_H

#include <stdbool.h>

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/run/evictions.h"

struct correction {
    bool known;    /* the runs tell it; else the demands are the traced run's */
    double factor; /* what the demands are to be multiplied by; 1 where nothing tells */
    bool often;    /* the probes were called so often that they slowed the traced run */
    double
        spread; /* most less least CPU time of the runs, over the median; 0 where nothing tells */
};

/* `refills` NULL: not known. */
struct correction correction_find(const struct trace *trace, const struct refills *refills);

/* Multiplies all CPU demands of the nodes and edges, and notes both in the model. */
void correction_apply(struct model *model, struct correction correction);

#endif
