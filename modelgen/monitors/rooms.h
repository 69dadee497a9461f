/* The room of a bounded queue that was never full: no wait shows how much there is, but the source
 * tells, or a variable that was looked at. Another configuration may fill the queue. */
#ifndef PERSIK_MODELGEN_MONITORS_ROOMS_H
#define PERSIK_MODELGEN_MONITORS_ROOMS_H

#include "modelgen/monitors/monitors.h"
#include "modelgen/pools/pools.h"

/* Adds a guard for the room of each queue where whoever puts would wait for it and the traced run
 * does not contradict: never more items in it than there is room. */
void rooms_find(const struct trace *trace, const struct sections *sections,
                const struct thread_pools *pools, struct monitors *monitors);

#endif
