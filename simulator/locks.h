/* Mutexes, read-write locks and spin locks. */
#ifndef PERSIK_SIMULATOR_LOCKS_H
#define PERSIK_SIMULATOR_LOCKS_H

#include "simulator/state.h"

enum progress lock_take(struct engine *engine, struct thread *thread, struct shared *object);
enum progress lock_release(struct engine *engine, struct thread *thread, struct shared *object);
enum progress rwlock_read(struct engine *engine, struct thread *thread, struct shared *object);
enum progress rwlock_write(struct engine *engine, struct thread *thread, struct shared *object);
enum progress rwlock_release(struct engine *engine, struct thread *thread, struct shared *object);

#endif
