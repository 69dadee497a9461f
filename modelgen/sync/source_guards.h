/* Guards that the source proposes, where nobody ever had to wait for them, or too few to tell. */
#ifndef PERSIK_MODELGEN_SYNC_SOURCE_GUARDS_H
#define PERSIK_MODELGEN_SYNC_SOURCE_GUARDS_H

#include "modelgen/sync/guards.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/threads/thread_pools.h"

/* Adds what the source says of the mutex, where the trace allows it and tells no more itself. */
void source_guards_find(const struct trace *trace, const struct sections *sections, int mutex,
                        const struct object_history *history, struct monitors *monitors);

/* ---- capacity of a bounded queue that never filled up, taken from the source or the observed
 * variable: no wait shows it. Another configuration may fill the queue. ---- */

/* Adds a guard for the room of each queue where whoever puts would wait for it and the traced run
 * does not contradict: never more items in it than there is room. */
void queue_capacities_find(const struct trace *trace, const struct sections *sections,
                           const struct thread_pools *pools, struct monitors *monitors);

#endif
