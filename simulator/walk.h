/* A thread's way through its PEG. */
#ifndef PERSIK_SIMULATOR_WALK_H
#define PERSIK_SIMULATOR_WALK_H

#include "simulator/state.h"

/* The running thread goes on until it needs the CPU, waits or ends. */
void walk_thread(struct engine *engine, struct thread *thread);

/* The sleeping thread is done at its node, with PHASE_GRANTED: the kernel goes on for it as far as
 * it does without the thread, then it is woken. */
void walk_asleep(struct engine *engine, struct thread *thread);

#endif
