/* What is counted of operations on shared objects and of the waits for them. */
#ifndef PERSIK_SIMULATOR_WAIT_ACCOUNT_H
#define PERSIK_SIMULATOR_WAIT_ACCOUNT_H

#include "simulator/state.h"

/* Brings the object's statistics up to now; before every change of its state. */
void shared_touch(const struct engine *engine, struct shared *object);

/* Counts an operation by `thread` on `object` and sets its deadline, unless it is being retried. */
void wait_open(struct engine *engine, struct thread *thread, struct shared *object);

/* The operation is over: accounts for the wait there was. */
void wait_close(struct engine *engine, struct thread *thread, struct shared *object);

/* Takes back what was announced to the thread, which now looks for itself. */
void wait_drop_claim(struct thread *thread, struct shared *object, int side);

#endif
