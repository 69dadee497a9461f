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

/* Everything waits. True: some for items of this queue, which has not had all of its items in all:
 * one is there after all. */
bool queue_go_on(struct engine *engine, struct shared *queue);

/* The initial items, and the first arrival from outside. */
void queue_reset(struct engine *engine, int object);

/* An item arrives from outside. */
void queue_arrive(struct engine *engine, int object);

/* The same from a client, who waits for room where there is none. */
void queue_bring(struct engine *engine, int object, int client);

#endif
