/* Barriers of the program's own that spin before they sleep.
 *
 * A thread arrives under the barrier's mutex, unlocks it, spins for a while, and locks it again,
 * maybe to wait on a condition, maybe to leave: its visit is several critical sections. What they
 * are about need not be understood. Threads whose visits always overlap all together, so many each
 * time, meet at a barrier: nobody leaves before all have come. */
#ifndef PERSIK_MODELGEN_REWRITE_SPINNING_BARRIERS_H
#define PERSIK_MODELGEN_REWRITE_SPINNING_BARRIERS_H

#include "modelgen/events/event_log.h"

/* Shows each visit of such a mutex as one call on a barrier. */
void spinning_barriers_as_barriers(struct event_log *log);

#endif
