/* Barriers of the program's own that look again and again before they sleep.
 *
 * A thread arrives under the barrier's mutex, gives it back, spins for a while, and takes it again,
 * maybe to wait on a condition, maybe to leave: its visit is several critical sections. What they
 * are about need not be understood. Threads whose visits always overlap all together, so many each
 * time, meet there: nobody leaves before all have come. */
#ifndef PERSIK_MODELGEN_RUN_GATHERINGS_H
#define PERSIK_MODELGEN_RUN_GATHERINGS_H

#include "modelgen/run/view.h"

/* Shows each visit of such a mutex as one call on a barrier. */
void gatherings_as_barriers(struct view *view);

#endif
