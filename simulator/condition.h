/* Condition variables as glibc makes them before 2.41: whoever signals may have to wait.
 *
 * Waiters form two groups. Signals go to the first one, new waiters join the second. When all of
 * the first have been woken and another signal comes, the second becomes the first; but only after
 * every thread of the first has really left, that is has run since it was woken. Until then the
 * signaller sleeps, with the program's mutex in its hands. With more threads than cores a woken
 * thread may have to wait for a core as long as a time slice.
 *
 * Source: nptl/pthread_cond_common.c, __condvar_quiesce_and_switch_g1(); glibc bug 25847. */
#ifndef PERSIK_SIMULATOR_CONDITION_H
#define PERSIK_SIMULATOR_CONDITION_H

#include "simulator/state.h"

/* The thread begins to wait on this side of the object: it joins the second group. */
void condition_join(const struct engine *engine, struct thread *thread, struct shared *object,
                    int side);

/* May `waker` wake the first one of the waiters now? If not, it sleeps and goes on in PHASE_SIGNAL
 * when those woken before have left. NULL, which is no thread, always may. */
bool condition_admits(struct engine *engine, struct thread *waker, struct shared *object, int side);

/* The thread is woken from its wait, and is about to leave. */
void condition_wake(struct thread *thread);

/* The thread runs: it has left, and signallers that waited for that go on. */
void condition_leave(struct engine *engine, struct thread *thread);

#endif
