/* What the machine costs: quantum, switches, wake-ups, measured in the traced run. */
#ifndef PERSIK_MODELGEN_RUN_MACHINE_H
#define PERSIK_MODELGEN_RUN_MACHINE_H

#include "formats/model.h"
#include "formats/trace.h"

/* Fills model->machine from the trace as it was recorded; what that cannot tell gets Linux's usual
 * value and, where it matters, a note in the model. */
void machine_measure(const struct trace *trace, struct model *model);

#endif
