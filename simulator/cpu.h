/* The scheduler: cores, the ready queue, time slices. */
#ifndef PERSIK_SIMULATOR_CPU_H
#define PERSIK_SIMULATOR_CPU_H

#include "simulator/state.h"

/* All cores idle. */
void cpu_reset(struct engine *engine);

/* The running thread needs `demand_ns` of CPU before it goes on. True: it must wait for that and
 * will get its turn. False: it goes on, since nothing is to be served or nothing else happens until
 * that is done; then the clock has moved. */
bool cpu_compute(struct engine *engine, struct thread *thread, double demand_ns);

/* The running thread stops needing a core until cpu_wake(). */
void cpu_block(struct engine *engine, struct thread *thread);

/* The running thread is over. */
void cpu_end(struct engine *engine, struct thread *thread);

/* A thread that is blocked or not yet begun goes on as soon as it gets a core. `waker` is the
 * running thread that wakes it; NULL for a timer or a device. */
void cpu_wake(struct engine *engine, struct thread *thread, struct thread *waker);

/* The running thread burns CPU until cpu_stop_spinning(). */
void cpu_spin(struct engine *engine, struct thread *thread);
void cpu_stop_spinning(struct engine *engine, struct thread *thread);

/* The event of core number `core` is due, and all that still happens is threads that spin for locks
 * which nobody will free: then one of them must be let go before the event is handled. */
bool cpu_only_spins(struct engine *engine, int core);

/* The event of core number `core` is due. */
void cpu_handle_event(struct engine *engine, int core);

/* The timer tick is due. */
void cpu_handle_tick(struct engine *engine);

/* Moves the thread to `state` and accounts for the time spent in the previous one. */
void cpu_set_state(struct engine *engine, struct thread *thread, enum thread_state state);

#endif
