/* What ran, or brought the work, where the model does not look: other processes, threads that were
 * not recorded, signal handlers, a control group's quota. */
#ifndef PERSIK_MODELGEN_RUN_OUTSIDE_H
#define PERSIK_MODELGEN_RUN_OUTSIDE_H

#include "formats/model.h"
#include "formats/trace.h"

/* Fills model->outside. `cpu_ns`: of the recorded threads. */
void outside_tell(const struct trace *trace, double cpu_ns, struct model *model);

/* Which share of all CPU time of the program the recorded threads have. */
double outside_recorded_share(const struct trace *trace, double cpu_ns);

#endif
