/* What the machine costs: quantum, switches, wake-ups, measured in the traced run. */
#ifndef PERSIK_MODELGEN_CALIBRATE_SCHEDULER_COSTS_H
#define PERSIK_MODELGEN_CALIBRATE_SCHEDULER_COSTS_H

#include "formats/model.h"
#include "formats/trace.h"

/* Fills model->machine from the trace as it was recorded; what that cannot tell gets Linux's usual
 * value and, where it matters, a note in the model. */
void scheduler_costs_measure(const struct trace *trace, struct model *model);

#endif
