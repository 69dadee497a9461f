/* Waiting for shared objects and waking those who wait: what all kinds of objects have in common.
 *
 * A woken thread does not find its wish fulfilled; as in glibc it tries again when it gets to
 * run, and goes back to the head of the line when another thread was faster; on a condition
 * variable of the program's own, to its end. */
#ifndef PERSIK_SIMULATOR_WAITING_H
#define PERSIK_SIMULATOR_WAITING_H

#include "simulator/engine.h"

enum progress {
    PROGRESS_YES,   /* done, OUTCOME_YES */
    PROGRESS_NO,    /* done, OUTCOME_NO */
    PROGRESS_WAITS, /* the thread sleeps or spins; its phase says how it goes on */
    PROGRESS_ENDED, /* the thread is over */
};

void wait_list_append(struct wait_list *list, struct thread *thread);
void wait_list_push(struct wait_list *list, struct thread *thread);
void wait_list_remove(struct thread *thread); /* from the list it is in, if any */

/* Brings the object's statistics up to now; before every change of its state. */
void shared_touch(const struct engine *engine, struct shared *object);

/* Counts an operation by `thread` on `object` and sets its deadline, unless it is being retried. */
void wait_open(struct engine *engine, struct thread *thread, struct shared *object);

/* The thread cannot have what it wants: it waits on `side` of `object`, having given up its node's
 * monitor mutex, and goes on in `phase`. PROGRESS_NO at once when its time is up. */
enum progress wait_for(struct engine *engine, struct thread *thread, struct shared *object,
                       int side, enum thread_phase phase);

/* The operation is over: accounts for the wait there was. */
void wait_close(struct engine *engine, struct thread *thread, struct shared *object);

/* Takes back what was announced to the thread, which now looks for itself. */
void wait_drop_claim(struct thread *thread, struct shared *object, int side);

/* Wakes a waiting thread. `waker` pays for it; NULL when no thread does. */
void wait_wake(struct engine *engine, struct thread *waker, struct thread *sleeper);

/* The same, and its wait is over, with OUTCOME_YES; where it has given up a mutex it takes that
 * first, and must have been going to wait for just this (PHASE_GRANTED). */
void wait_grant(struct engine *engine, struct thread *waker, struct thread *sleeper);

/* Wakes all that wait on `side`, to look for themselves. PROGRESS_YES, or the waker has to wait
 * before it can go on with that, see condition.h; then PROGRESS_WAITS, and the same call again. */
enum progress wait_wake_all(struct engine *engine, struct thread *waker, struct shared *object,
                            int side);

/* Announces up to `available` units to waiters on `side`, first come first served, and wakes them;
 * or all who wait to take, where the object is one that wakes all. Progress: as above. */
enum progress wait_announce(struct engine *engine, struct thread *waker, struct shared *object,
                            int side, double available);

/* The thread's timer has run out: it looks a last time. */
void wait_time_out(struct engine *engine, struct thread *thread);

#endif
