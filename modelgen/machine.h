/* What the machine costs: quantum, switches, wake-ups, measured in the traced run. */
#ifndef PERSIK_MODELGEN_MACHINE_H
#define PERSIK_MODELGEN_MACHINE_H

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/timeline.h"

/* Fills model->machine; what the trace cannot tell gets Linux's usual value and, where it matters,
 * a note in the model. */
void machine_measure(const struct trace *trace, const struct timeline *timelines,
                     struct model *model);

#endif
