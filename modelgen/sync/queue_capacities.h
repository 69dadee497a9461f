/* Capacity of a bounded queue that never filled up, taken from the source or the observed variable:
 * no wait shows it. Another configuration may fill the queue. */
#ifndef PERSIK_MODELGEN_SYNC_QUEUE_CAPACITIES_H
#define PERSIK_MODELGEN_SYNC_QUEUE_CAPACITIES_H

#include "modelgen/sync/monitor.h"
#include "modelgen/threads/thread_pools.h"

/* Adds a guard for the room of each queue where whoever puts would wait for it and the traced run
 * does not contradict: never more items in it than there is room. */
void queue_capacities_find(const struct trace *trace, const struct sections *sections,
                           const struct thread_pools *pools, struct monitors *monitors);

#endif
