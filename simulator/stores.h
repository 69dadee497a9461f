/* What holds something: tokens, and queues of items, also those that come from outside. */
#ifndef PERSIK_SIMULATOR_STORES_H
#define PERSIK_SIMULATOR_STORES_H

#include "simulator/state.h"

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

/* An item is asked for from outside, and begins its way. */
void queue_arrive(struct engine *engine, int object);

/* It arrives: one of that client (PLAN_NONE: of none in particular), born then. */
void queue_come(struct engine *engine, int object, double birth_ns, int client);

/* The task of what came to the queue from outside, of no client, has ended. */
void queue_task_done(struct engine *engine, int object);

/* Whoever asked has the answer: the task counts, and its client, if there is one, thinks again.
 * `birth_ns` NaN: not known. */
void task_answered(struct engine *engine, double birth_ns, int client);

/* Closed populations: so many clients who think, put an item into their queue, wait until its task
 * ends, and begin anew. Which thread ends the task does not matter: items that are put on carry
 * their client with them. Where several threads work for one client, the first end of a task
 * counts. */

/* The beginning of a run: the queue's clients think. */
void clients_reset(struct engine *engine, int object);

/* The next one has thought. */
void clients_come(struct engine *engine);

#endif
