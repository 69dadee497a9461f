/* What holds something: tokens, and queues of items. */
#ifndef PERSIK_SIMULATOR_STORES_H
#define PERSIK_SIMULATOR_STORES_H

#include "simulator/waiting.h"

enum progress tokens_acquire(struct engine *engine, struct thread *thread, struct shared *object);
enum progress tokens_release(struct engine *engine, struct thread *thread, struct shared *object);
enum progress queue_put(struct engine *engine, struct thread *thread, struct shared *object);
enum progress queue_get(struct engine *engine, struct thread *thread, struct shared *object);

/* From now on a wait that would block ends with OUTCOME_NO. `thread` NULL: closed from outside. */
enum progress store_close(struct engine *engine, struct thread *thread, struct shared *object);

/* The initial items, and the first arrival from outside. */
void queue_reset(struct engine *engine, int object);

/* An item arrives from outside. */
void queue_arrive(struct engine *engine, int object);

#endif
