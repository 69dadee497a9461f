/* Relays: a mutex of a thread's own that makes its wait atomic. The thread finds nothing to do
 * under the mutex that all share, locks its own, gives the shared one back, waits on its own
 * condition, and then takes the shared one again; whoever has something for it locks the thread's
 * own mutex to tell it. That is the same as to wait under the shared mutex on a condition of its
 * own. */
#ifndef PERSIK_MODELGEN_RUN_RELAYS_H
#define PERSIK_MODELGEN_RUN_RELAYS_H

#include "modelgen/run/view.h"

/* Shows it so where all that is ever done under a mutex is of this kind. No record has been dropped
 * from the view before. */
void relays_as_waits(struct view *view);

#endif
