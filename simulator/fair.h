/* What Linux's fair scheduler (EEVDF) gives to threads of equal weight.
 *
 * A thread's virtual runtime is the CPU time it has had; the average over all threads of a queue is
 * what each should have had. Who has had no more than that is eligible, and of the eligible ones
 * the one with the earliest deadline runs: its virtual runtime when it came, and one slice. It is
 * protected until that deadline as long as it stays eligible. A thread that goes to sleep while it
 * is behind the average gets that lag back when it wakes; one that is ahead stays in the queue,
 * delayed, and counts for the average until it would be picked. So threads that mostly wait are
 * served at once beside CPU hogs, and threads that hand a lock to and fro preempt each other or not
 * as their shares stand.
 *
 * Source: kernel/sched/fair.c of Linux 6.18: place_entity(), pick_eevdf(), update_entity_lag(),
 * requeue_delayed_entity(). Held against its decisions by sched events of real runs. */
#ifndef PERSIK_SIMULATOR_FAIR_H
#define PERSIK_SIMULATOR_FAIR_H

#include "simulator/state.h"

void fair_reset(struct fair_queue *queue);

/* The queue of a core; where cores are ideal, all share one. */
bool fair_is_shared(const struct engine *engine);
struct fair_queue *fair_queue_of(const struct engine *engine, int core);

struct fair_cores {
    int first, end; /* first <= core < end */
};

/* The cores that share the queue of this one. */
struct fair_cores fair_cores_of(const struct engine *engine, int core);

/* Threads that wait for a core, those that sleep not counted. */
static inline uint32_t fair_ready(const struct fair_queue *queue) {
    return queue->waiting.count - queue->n_delayed;
}

/* How many threads compete, running and delayed ones counted. */
double fair_competitors(const struct engine *engine, int core);

/* Charges what runs on the queue's cores for the time up to now. */
void fair_charge(struct engine *engine, int core);

/* Gives a thread that wakes or begins its place, and adds it. */
void fair_join(struct engine *engine, struct thread *thread, int core, bool begins);

/* Adds a thread that keeps its place: it has been preempted. */
void fair_put_back(struct engine *engine, struct thread *thread, int core);

/* A delayed thread is woken; what runs is charged after that. */
void fair_rejoin(struct engine *engine, struct thread *thread, int core);

/* The running thread goes to sleep. True: it stays, delayed. */
bool fair_sleep(struct engine *engine, struct thread *thread, int core);

/* Who is to run: `running` (NULL: the core is free) or one of those in the queue, which may be a
 * delayed one; NULL when there is nobody. */
struct thread *fair_pick(const struct engine *engine, int core, struct thread *running);

/* Takes a thread out: it is going to run; or, if delayed, it has had its turn. */
void fair_take(struct engine *engine, struct thread *thread, int core);

/* Moves a ready thread, with its lag and what is left of its slice. */
void fair_move(struct engine *engine, struct thread *thread, int from, int to);

#endif
