/* Closed populations: so many clients who think, put an item into their queue, wait until its task
 * ends, and begin anew.
 *
 * Which thread ends the task does not matter: items that are put on carry their client with them.
 * Where several threads work for one client, the first end of a task counts. */
#ifndef PERSIK_SIMULATOR_CLIENTS_H
#define PERSIK_SIMULATOR_CLIENTS_H

#include "simulator/engine.h"

/* The beginning of a run: the queue's clients think. */
void clients_reset(struct engine *engine, int object);

/* The next one has thought. */
void clients_come(struct engine *engine);

/* A task has ended: its client, if there is one (else PLAN_NONE), thinks again. */
void clients_leave(struct engine *engine, int client);

#endif
