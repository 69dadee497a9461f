/* Mutexes: taken as an operation of their own, or given up and taken again by a wait inside a
 * monitor.
 */
#ifndef PERSIK_SIMULATOR_MUTEXES_H
#define PERSIK_SIMULATOR_MUTEXES_H

#include "simulator/state.h"

/* The free lock, of any kind, is the thread's now. */
void mutex_own(const struct engine *engine, struct thread *thread, struct shared *object);

enum progress mutex_take(struct engine *engine, struct thread *thread, struct shared *mutex);

/* Its owner leaves it for good. */
void mutex_free(struct engine *engine, struct thread *thread, struct shared *mutex);

/* For waits inside a monitor: gives up the mutex wholly, and takes it again. False: the thread must
 * wait for it, and this is to be called again when it runs. */
void mutex_give_up(struct engine *engine, struct thread *thread, struct shared *mutex);
bool mutex_retake(struct engine *engine, struct thread *thread, struct shared *mutex);

#endif
