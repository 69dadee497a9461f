/* Monitors as the program has them: the statements of a critical section carried out on variables
 * and conditions, under the mutex that the thread holds. */
#ifndef PERSIK_SIMULATOR_MONITORS_H
#define PERSIK_SIMULATOR_MONITORS_H

#include "simulator/state.h"

/* Carries out the statements of the thread's node, from where it had to wait. PROGRESS_NO: the
 * guard that answers did not hold. */
enum progress monitor_execute(struct engine *engine, struct thread *thread, struct shared *object);

#endif
