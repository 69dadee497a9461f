/* What ran, or brought the work, where the model does not look: other processes, threads that were
 * not recorded, signal handlers, a control group's quota. */
#ifndef PERSIK_MODELGEN_REPORT_EXTERNAL_ACTIVITY_H
#define PERSIK_MODELGEN_REPORT_EXTERNAL_ACTIVITY_H

#include "formats/model.h"
#include "formats/trace.h"

/* Fills model->outside. `cpu_ns`: of the recorded threads. */
void external_activity_tell(const struct trace *trace, double cpu_ns, struct model *model);

/* The calls that were made in signal handlers where these are not modelled. Where they are many,
 * nobody knows how many there are in other configurations. */
void external_activity_tell_handlers(const struct trace *trace, struct model *model);

/* Which share of all CPU time of the program the recorded threads have. */
double external_activity_recorded_share(const struct trace *trace, double cpu_ns);

#endif
