/* Where threads wait for each other in calls on descriptors that no filter has made a queue of: a
 * socket pair, a FIFO, a connection of the program with itself, an eventfd. In the model such a
 * wait is as long as it was in the recorded run. */
#ifndef PERSIK_MODELGEN_REPORT_DESCRIPTOR_WAITS_H
#define PERSIK_MODELGEN_REPORT_DESCRIPTOR_WAITS_H

#include "formats/model.h"
#include "formats/trace.h"

/* Where these waits are much of the threads' time: says so, and that no configuration but the
 * recorded one has figures. `trace`: as the filters left it. Nothing where nobody recorded who woke
 * whom. */
void descriptor_waits_tell(const struct trace *trace, struct model *model);

#endif
