/* What a thread has in its core's cache, what others leave of it there, and the CPU time it takes
 * to bring it back. Cores have caches of their own; a thread that comes to another core has nothing
 * there. */
#ifndef PERSIK_SIMULATOR_CACHES_H
#define PERSIK_SIMULATOR_CACHES_H

#include "simulator/state.h"

/* The thread begins to run on core number `index`, or goes on there. */
void caches_enter(struct engine *engine, struct thread *thread, int index);

/* It stops running there. */
void caches_leave(struct engine *engine, struct thread *thread, int index);

/* CPU that the thread needs more now than if it had not slept since it last ran. */
double caches_cold_start(const struct engine *engine, const struct thread *thread);

/* What a demand takes longer than `demand_ns` since the thread misses what it had. */
double caches_refill(struct engine *engine, struct thread *thread, double demand_ns);

/* The last demand is interrupted when it would take `left_ns` more: how much of it is left to be
 * computed. What that would have brought back is missing again. */
double caches_interrupt(struct engine *engine, struct thread *thread, double left_ns);

#endif
