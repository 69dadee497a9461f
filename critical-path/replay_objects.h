/* Locks, permits and items of a replay: who gets them, and who waits. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_REPLAY_OBJECTS_H
#define PERSIK_CRITICAL_PATH_REPLAY_OBJECTS_H

#include "critical-path/replay_state.h"

void replay_objects_begin(struct replay_state *replay);

/* Tries to do what the operation of the runner's step `taking` takes. Gives the step behind which
 * the runner goes on: that one, or another thread's in whose place it came first.
 * DEPENDENCIES_NONE: it must wait. */
uint32_t replay_objects_take(struct replay_state *replay, struct runner *runner);

/* Must the runner, who could not have it, wait only because of the order that is kept? */
bool replay_objects_waits_for_turn(const struct replay_state *replay, const struct runner *runner);

/* Puts it in the list of those who wait for what it could not have. */
void replay_objects_wait(struct replay_state *replay, struct runner *runner);

/* Of those who wait for a pool, the next one whom what is there lets go on, taken off the list;
 * NULL: nobody. `*spare`: how many are left for those behind it; below 0 at first. */
struct runner *replay_objects_next_of_pool(struct replay_state *replay, uint32_t pool,
                                           double *spare);

/* The operation of the step is done by the runner. Who can go on with what it gives: the caller
 * wakes it. NULL: nobody. */
struct runner *replay_objects_give(struct replay_state *replay, struct runner *runner,
                                   uint32_t step);

/* Takes the runner out of the list that it waits in. */
void replay_objects_remove(struct replay_state *replay, const struct runner *runner);

#endif
