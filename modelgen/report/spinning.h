/* CPU time burnt in loops that wait by looking again and again, which the model takes for work. */
#ifndef PERSIK_MODELGEN_REPORT_SPINNING_H
#define PERSIK_MODELGEN_REPORT_SPINNING_H

#include "formats/facts.h"
#include "formats/model.h"
#include "formats/sample.h"

/* Lists in the model's notes what share of the CPU time the samples saw in each such loop of the
 * source, and what to put into a catalog. Without facts or samples nothing is known. */
void spinning_note(const struct facts *facts, const struct sample *sample, struct model *model);

#endif
