/* Waking those who wait for a shared object.
 *
 * A woken thread does not find its wish fulfilled; as in glibc it tries again when it gets to
 * run, and goes back to the head of the line when another thread was faster; on a condition
 * variable of the program's own, to its end. */
#ifndef PERSIK_SIMULATOR_WAKING_H
#define PERSIK_SIMULATOR_WAKING_H

#include "simulator/state.h"

/* Wakes a waiting thread. `waker` pays for it; NULL when no thread does. */
void wait_wake(struct engine *engine, struct thread *waker, struct thread *sleeper);

/* The same, and its wait is over, with OUTCOME_YES; where it has given up a mutex it takes that
 * first, and must have been going to wait for just this (PHASE_GRANTED). */
void wait_grant(struct engine *engine, struct thread *waker, struct thread *sleeper);

/* Wakes all that wait on `side`, to look for themselves. PROGRESS_YES, or the waker has to wait
 * before it can go on with that, see condition.h; then PROGRESS_WAITS, and the same call again. */
enum progress wait_wake_all(struct engine *engine, struct thread *waker, struct shared *object,
                            int side);

/* Announces up to `available` units to waiters on `side`, first come first served, and wakes them;
 * or all who wait to take, where the object is one that wakes all. Progress: as above. */
enum progress wait_announce(struct engine *engine, struct thread *waker, struct shared *object,
                            int side, double available);

#endif
