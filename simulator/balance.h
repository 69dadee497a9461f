/* How Linux spreads ready threads over cores that have a queue each: where a woken thread queues,
 * and what an idle or less loaded core takes from others, and when.
 *
 * It is not work-conserving, and with short waits that decides the running time: a thread queues on
 * the core where it last ran unless that is busy and another one is known to idle, a core that
 * becomes idle takes another one's work only now and then, and the tick that would mend it comes
 * every few milliseconds. Modelled after kernel/sched/fair.c as of Linux 6.18:
 * select_idle_sibling(),
 * wake_wide(), sched_balance_domains(), can_migrate_task(). All cores count as sharing
 * their last-level cache. */
#ifndef PERSIK_SIMULATOR_BALANCE_H
#define PERSIK_SIMULATOR_BALANCE_H

#include "simulator/state.h"

/* The core where `thread`, which is being woken or begins, is to run or to queue. `waker`: the
 * thread that wakes it, NULL for a timer or a device. */
int balance_place(struct engine *engine, struct thread *thread, struct thread *waker);

/* Core `index` has nothing left to run. True: a thread has been moved to its queue. */
bool balance_newly_idle(struct engine *engine, int index);

/* `thread` has become runnable (+1), or has stopped being so (-1), on core `index`. */
void balance_count(struct engine *engine, struct thread *thread, int index, int change);

/* `thread` begins to run, or stops. */
void balance_runs(struct engine *engine, struct thread *thread, bool runs);

/* `thread` has ended: what it was for its core's averages goes with it. */
void balance_end(struct engine *engine, struct thread *thread);

/* The timer tick of all cores is due: idle ones take what waits elsewhere, from time to time
 * busy ones do too. */
void balance_tick(struct engine *engine);

#endif
