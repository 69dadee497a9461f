/* Cores of a replay: who runs. One queue for all cores. Whoever has come least far in the recorded
 * run comes first, so that the schedule is that of the run as far as it can be: a woken thread
 * takes a free core, or that of one that is farther ahead; slices end at ticks, as the kernel's do.
 * Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_REPLAY_CORES_H
#define PERSIK_CRITICAL_PATH_REPLAY_CORES_H

#include "critical-path/replay_state.h"

void replay_cores_begin(struct replay_state *replay, int cores);

/* The runner, which slept, goes on as soon as it has a core. */
void replay_cores_wake(struct replay_state *replay, struct runner *runner);

/* The runner sleeps from now on, or has ended. */
void replay_cores_leave(struct replay_state *replay, struct runner *runner,
                        enum runner_state state);

/* The runner computes so long. False: that takes no time. */
bool replay_cores_compute(struct replay_state *replay, struct runner *runner, double ns);

/* The runner waits on its core, or would if it had one, and what it waits for is not there. */
bool replay_cores_spins(const struct runner *runner);

/* What the spinning runner waits for may be there: it looks, as soon as it has a core. */
void replay_cores_look(struct replay_state *replay, struct runner *runner);

/* Something happens to the runner, which has a core. True: it has computed all that it was to. */
bool replay_cores_happen(struct replay_state *replay, struct runner *runner);

#endif
