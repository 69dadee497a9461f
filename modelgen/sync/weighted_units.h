/* Semaphores of which a taker takes as many as it needs: bytes of a budget, places for several. How
 * many that were in each critical section, by what their counter held whenever its mutex was given
 * back (TRACE_LOOKED). */
#ifndef PERSIK_MODELGEN_SYNC_WEIGHTED_UNITS_H
#define PERSIK_MODELGEN_SYNC_WEIGHTED_UNITS_H

#include "formats/trace.h"
#include "modelgen/sync/monitor.h"

/* By how much each section (index into sections) of those that the guard's weights name changes its
 * counter, without sign; of those that never went on, the mean. The guard has its mutex, proposal,
 * waiters and weights of 1. NULL: the counter was not looked at, or it does not change as the
 * weights say, or a thread gives back something else than it took last. The caller frees. */
double *weighted_units_find(const struct trace *trace, const struct sections *sections,
                            const struct monitors *monitors, const struct explanation *guard);

#endif
