/* One replication of a simulated run, and the clock that drives it.
 *
 * Threads walk their PEG as state machines (walk.c) until they need the CPU (cpu.c) or must wait
 * for a shared object (waiting.c, and locks.c, stores.c, meetings.c, disk.c by kind of object).
 * Time advances by the event heap; a thread that can go on at the present instant waits its turn
 * in a FIFO instead, which costs a fraction of the heap. Nothing is allocated per event. */
#ifndef PERSIK_SIMULATOR_ENGINE_H
#define PERSIK_SIMULATOR_ENGINE_H

#include "simulator/state.h"

/* Room for one replication of `plan` at a time. engine_free() ends it. */
struct engine *engine_make(const struct plan *plan);
void engine_free(struct engine *engine);

/* Simulates replication number `replication` from an empty machine to the end. 0, or -1 with
 * `failure` set. The statistics stay in the engine until the next run. */
int engine_run(struct engine *engine, uint64_t seed, uint64_t replication);

/* The same in pieces. Begins the run; nothing has happened yet. */
void engine_begin(struct engine *engine, uint64_t seed, uint64_t replication);

/* Goes on to `until_ns`. True: the run is over before. `failure` may be set. */
bool engine_go_on(struct engine *engine, double until_ns);

/* Statistics begin now: what has been counted so far is forgotten. */
void engine_count_anew(struct engine *engine);

/* Brings all statistics up to now, to be read. */
void engine_settle(struct engine *engine);

#endif
