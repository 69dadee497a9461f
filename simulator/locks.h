/* Mutexes, read-write locks and spin locks. */
#ifndef PERSIK_SIMULATOR_LOCKS_H
#define PERSIK_SIMULATOR_LOCKS_H

#include "simulator/waiting.h"

enum progress lock_take(struct engine *engine, struct thread *thread, struct shared *object);
enum progress lock_release(struct engine *engine, struct thread *thread, struct shared *object);
enum progress rwlock_read(struct engine *engine, struct thread *thread, struct shared *object);
enum progress rwlock_write(struct engine *engine, struct thread *thread, struct shared *object);
enum progress rwlock_release(struct engine *engine, struct thread *thread, struct shared *object);

/* For waits inside a monitor: gives up the mutex wholly, and takes it again. False: the thread must
 * wait for it, and this is to be called again when it runs. */
void lock_give_up(struct engine *engine, struct thread *thread, struct shared *mutex);
bool lock_retake(struct engine *engine, struct thread *thread, struct shared *mutex);

#endif
