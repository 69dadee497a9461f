/* The traced run is one run of several of the same configuration, and the only one with probes. The
 * model's CPU demands are made to add up to the median of all, at the usual speed of the cores. */
#ifndef PERSIK_MODELGEN_CALIBRATE_DEMAND_CALIBRATION_H
#define PERSIK_MODELGEN_CALIBRATE_DEMAND_CALIBRATION_H

#include <stdbool.h>

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/calibrate/cache_reload_costs.h"
#include "modelgen/calibrate/cold_starts.h"

struct demand_calibration {
    bool known;    /* the runs tell it; else the demands are the traced run's */
    double factor; /* what the demands are to be multiplied by; 1 where nothing tells */
    double
        spread; /* most less least CPU time of the runs, over the median; 0 where nothing tells */
};

/* `reload_costs`, `cold_starts` NULL: not known. `ended_ns`: CPU time behind the recorded ends of
 * all threads (thread_ends.h). */
struct demand_calibration demand_calibration_find(const struct trace *trace,
                                                  const struct cache_reload_costs *reload_costs,
                                                  const struct cold_starts *cold_starts,
                                                  double ended_ns);

/* Multiplies all CPU demands of the nodes and edges, and notes both in the model. */
void demand_calibration_apply(struct model *model, struct demand_calibration correction);

#endif
