/* Which mutexes the model gets as the monitors that they are in the source. */
#ifndef PERSIK_MODELGEN_SYNC_STATEMENT_SEARCH_H
#define PERSIK_MODELGEN_SYNC_STATEMENT_SEARCH_H

#include "modelgen/sync/monitor.h"
#include "modelgen/sync/replay.h"
#include "modelgen/threads/thread_pools.h"

/* Finds the mutexes that are to be modelled so, and forgets what else was found of them. What is
 * not explained, or wanted so by the user, and cannot be gets a note in `model`. */
void statements_find(const struct trace *trace, const struct sections *sections,
                     const struct facts *facts, const struct thread_pools *pools,
                     struct monitors *monitors, struct model *model);

#endif
