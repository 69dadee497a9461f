/* A thread waits for a shared object, of whatever kind: see waking.h for how that ends. */
#ifndef PERSIK_SIMULATOR_WAITING_H
#define PERSIK_SIMULATOR_WAITING_H

#include "simulator/state.h"

/* The thread cannot have what it wants: it waits on `side` of `object`, having given up its node's
 * monitor mutex, and goes on in `phase`. PROGRESS_NO at once when its time is up. */
enum progress wait_for(struct engine *engine, struct thread *thread, struct shared *object,
                       int side, enum thread_phase phase);

/* The thread's timer has run out: it looks a last time. */
void wait_time_out(struct engine *engine, struct thread *thread);

#endif
