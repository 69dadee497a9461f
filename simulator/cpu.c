/* Cores, and what becomes of the threads on them: who runs next is decided in fair.c, in which
 * core's queue a thread waits in balance.c. Where the model's machine has no tick, cores are ideal:
 * one queue serves all, and none idles while a thread is ready.
 *
 * The kernel looks whether the running thread has used up its slice when the timer ticks and when
 * another thread is woken on the core.
 *
 * Whole-core costs: a switch between different threads costs CPU; a wake-up on an idle core takes
 * wall time but no CPU (leaving the idle state); going to sleep and coming back costs the sleeper
 * CPU, charged when it comes back. What others did to its cache meanwhile is in caches.c. Who wakes
 * a thread on another core that idles or is to be taken from its thread has to interrupt that core,
 * which costs the waker CPU and takes its time. */
#include "simulator/cpu.h"

#include <math.h>

#include "simulator/balance.h"
#include "simulator/caches.h"
#include "simulator/draws.h"
#include "simulator/fair.h"

/* Balancing is left to a softirq: by then the busy cores have ended the slices that the tick ends,
 * and what idle cores could take has just been running. */
#define AFTER_TICK_NS 1000

static uint32_t tick_event(const struct engine *engine) {
    const struct plan *plan = engine->plan;
    return (uint32_t)(plan->n_threads + plan->cores + plan->n_objects);
}

/* The next moment on the grid of ticks, unless nobody waits: then there is nothing to balance. */
static void arm_tick(struct engine *engine) {
    double period = engine->plan->tick_ns;
    if (!fair_is_shared(engine) && engine->plan->cores > 1 &&
        !heap_has(&engine->clock, tick_event(engine)))
        heap_set(&engine->clock, tick_event(engine),
                 (floor(engine->now_ns / period) + 1) * period + AFTER_TICK_NS);
}

static uint32_t core_event(const struct engine *engine, int core) {
    return (uint32_t)(engine->plan->n_threads + core);
}

static void report_run(const struct engine *engine, const struct thread *thread,
                       enum thread_state state) {
    const struct sim_observer *observer = engine->observer;
    enum sim_leaving leaving = state == THREAD_READY     ? LEAVES_PREEMPTED
                               : state == THREAD_BLOCKED ? LEAVES_BLOCKED
                               : state == THREAD_ENDED   ? LEAVES_ENDED
                                                         : LEAVES_RUN_OVER;
    observer->ran(observer->context, (int)thread->id, thread->core, thread->since_ns,
                  engine->now_ns, leaving);
}

static void report_wake(const struct engine *engine, const struct thread *thread,
                        const struct thread *waker) {
    const struct sim_observer *observer = engine->observer;
    observer->wakes(observer->context, (int)thread->id, waker ? (int)waker->id : MODEL_NONE,
                    engine->now_ns);
}

void cpu_set_state(struct engine *engine, struct thread *thread, enum thread_state state) {
    if (engine->observer && thread->state == THREAD_RUNNING)
        report_run(engine, thread, state);
    thread->time_ns[thread->state] += engine->now_ns - thread->since_ns;
    thread->since_ns = engine->now_ns;
    thread->state = state;
}

static void put_idle(struct engine *engine, int core) {
    engine->cores[core].running = NULL;
    engine->cores[core].idle_since_ns = engine->now_ns;
    engine->cores[core].idle_position = engine->n_idle;
    engine->idle_cores[engine->n_idle++] = core;
}

static void take_idle(struct engine *engine, int core) {
    uint32_t hole = engine->cores[core].idle_position;
    int moved = engine->idle_cores[--engine->n_idle];
    engine->idle_cores[hole] = moved;
    engine->cores[moved].idle_position = hole;
}

/* Of ideal cores: the one where the thread ran last if that is idle (its cache is warm), else the
 * one that became idle last; PLAN_NONE if all are busy. */
static int idle_core(const struct engine *engine, const struct thread *thread) {
    int last = thread->last_core;
    if (last != PLAN_NONE && !engine->cores[last].running)
        return last;
    return engine->n_idle > 0 ? engine->idle_cores[engine->n_idle - 1] : PLAN_NONE;
}

void cpu_reset(struct engine *engine) {
    engine->n_idle = 0;
    engine->n_spinning = 0;
    engine->n_ready = 0;
    for (int i = engine->plan->cores - 1; i >= 0; i--) {
        engine->cores[i] = (struct core){0};
        fair_reset(&engine->queues[i]);
        put_idle(engine, i);
        engine->cores[i].idle_since_ns = -INFINITY;
    }
}

static void arm(struct engine *engine, int index) {
    const struct core *core = &engine->cores[index];
    double due = fmin(core->done_ns, core->slice_end_ns);
    heap_set(&engine->clock, core_event(engine, index), fmax(due, engine->now_ns));
}

/* When the running thread's slice ends unless it is preempted: ideal cores look at the clock all
 * the time, others at every tick. */
static double slice_end(const struct engine *engine, const struct thread *running) {
    double tick_ns = engine->plan->tick_ns;
    if (fair_is_shared(engine))
        return engine->now_ns + running->deadline_ns - running->vruntime_ns;
    double due = engine->now_ns + fmax(running->protected_ns - running->vruntime_ns, 0);
    double end = ceil(due / tick_ns) * tick_ns;
    return end > engine->now_ns ? end : end + tick_ns;
}

/* The core's chosen thread begins to run. */
static void start(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    struct thread *thread = core->running;
    cpu_set_state(engine, thread, THREAD_RUNNING);
    balance_runs(engine, thread, true);
    thread->core = index;
    thread->last_core = index;
    core->charged_ns = engine->now_ns;
    thread->protected_ns = thread->deadline_ns;
    core->slice_end_ns = slice_end(engine, thread);
    const struct shared *spins_for =
        thread->is_spinning ? &engine->objects[engine->plan->nodes[thread->node].object] : NULL;
    if (spins_for && spins_for->kind == OBJECT_SPIN && !spins_for->owner)
        thread->remaining_ns = 0; /* the lock became free while it was off the CPU */
    if (core->last && core->last != thread)
        thread->remaining_ns += engine->plan->switch_cpu_ns;
    core->last = thread;
    caches_enter(engine, thread, index);
    thread->remaining_ns += caches_refill(engine, thread, thread->remaining_ns);
    core->done_ns = engine->now_ns + thread->remaining_ns;
    if (thread->remaining_ns > 0)
        arm(engine, index);
    else
        engine_take_turn(engine, thread);
}

static void enqueue(struct engine *engine, struct thread *thread) {
    cpu_set_state(engine, thread, THREAD_READY);
    engine->n_ready++;
    arm_tick(engine);
}

/* Who is to run on the core: `running` goes on, or one that waits. Delayed threads whose turn it
 * would be are let go. NULL: nobody. */
static struct thread *pick(struct engine *engine, int index, struct thread *running) {
    struct thread *next;
    while ((next = fair_pick(engine, index, running)) && next->is_delayed) {
        fair_take(engine, next, index);
        if (!fair_is_shared(engine))
            balance_count(engine, next, index, -1);
    }
    return next;
}

static void dispatch(struct engine *engine, int index) {
    engine->cores[index].running = NULL;
    struct thread *next = pick(engine, index, NULL);
    if (!next && !fair_is_shared(engine) && balance_newly_idle(engine, index))
        next = pick(engine, index, NULL);
    if (!next) {
        put_idle(engine, index);
        return;
    }
    fair_take(engine, next, index);
    engine->n_ready--;
    engine->cores[index].running = next;
    start(engine, index);
}

static void leave_core(struct engine *engine, struct thread *thread, enum thread_state state) {
    int index = thread->core;
    fair_charge(engine, index);
    bool is_delayed = state == THREAD_BLOCKED && fair_sleep(engine, thread, index);
    cpu_set_state(engine, thread, state);
    balance_runs(engine, thread, false);
    caches_leave(engine, thread, index);
    thread->ran_ns = engine->now_ns;
    heap_remove(&engine->clock, core_event(engine, index));
    if (!fair_is_shared(engine) && !is_delayed)
        balance_count(engine, thread, index, -1);
    if (!fair_is_shared(engine) && state == THREAD_ENDED)
        balance_end(engine, thread);
    dispatch(engine, index);
}

/* Most computing is over before anything else happens. Then it goes without the clock's heap, which
 * would take the very event that was put into it. */
static bool is_undisturbed(const struct engine *engine, const struct core *core) {
    const struct heap *clock = &engine->clock;
    return engine->turn_n == 0 && core->done_ns <= core->slice_end_ns &&
           core->done_ns <= engine->until_ns &&
           (clock->count == 0 || core->done_ns < heap_first(clock)->key) && !engine->failure[0];
}

bool cpu_compute(struct engine *engine, struct thread *thread, double demand_ns) {
    double demand = demand_ns + thread->debt_ns;
    thread->debt_ns = 0;
    if (demand <= 0)
        return false;
    demand += caches_refill(engine, thread, demand);
    struct core *core = &engine->cores[thread->core];
    core->done_ns = engine->now_ns + demand;
    if (!is_undisturbed(engine, core)) {
        arm(engine, thread->core);
        return true;
    }
    engine_advance(engine, core->done_ns);
    engine->events++;
    return false;
}

void cpu_block(struct engine *engine, struct thread *thread) {
    leave_core(engine, thread, THREAD_BLOCKED);
}

void cpu_end(struct engine *engine, struct thread *thread) {
    leave_core(engine, thread, THREAD_ENDED);
}

/* A waker on another core pays for the interrupt. False: there is none. */
static bool interrupt(const struct engine *engine, int index, struct thread *waker) {
    if (!waker || waker->core == index)
        return false;
    waker->debt_ns += engine->plan->wake_cpu_ns;
    return true;
}

/* Has core `index` look at once who is to run there; one that is not the waker's has to be
 * interrupted. A thread in the middle of an instantaneous operation is not on the clock; it meets
 * the end of its slice at its next demand. */
static void preempt(struct engine *engine, int index, struct thread *waker) {
    struct core *core = &engine->cores[index];
    double end_ns =
        engine->now_ns + (interrupt(engine, index, waker) ? engine->plan->preempt_ns : 0);
    core->slice_end_ns = fmin(core->slice_end_ns, end_ns);
    if (heap_has(&engine->clock, core_event(engine, index)))
        arm(engine, index);
}

/* The core that a woken thread may take over: its queue's, or, of ideal ones, that whose thread has
 * had most; PLAN_NONE: what runs there is changing already. */
static int preemptible(const struct engine *engine, int index) {
    struct fair_cores cores = fair_cores_of(engine, index);
    int furthest = PLAN_NONE;
    for (int i = cores.first; i < cores.end; i++) {
        const struct core *core = &engine->cores[i];
        if (core->running && !core->is_starting && core->slice_end_ns > engine->now_ns &&
            (furthest == PLAN_NONE ||
             core->running->vruntime_ns > engine->cores[furthest].running->vruntime_ns))
            furthest = i;
    }
    return furthest;
}

/* From a wake-up on the idle core until the woken thread runs. */
static double wake_latency(struct engine *engine, const struct core *core, struct thread *woken) {
    const struct plan *plan = engine->plan;
    bool is_brief = engine->now_ns - core->idle_since_ns < plan->brief_idle_ns;
    return draws_one(engine, is_brief ? plan->brief_latency : plan->wake_latency, &woken->random);
}

static void run_on_idle(struct engine *engine, struct thread *thread, int index, bool slept) {
    struct core *core = &engine->cores[index];
    take_idle(engine, index);
    fair_take(engine, thread, index);
    core->running = thread;
    double latency = slept ? wake_latency(engine, core, thread) : 0;
    if (latency <= 0) {
        start(engine, index);
        return;
    }
    cpu_set_state(engine, thread, THREAD_READY);
    core->is_starting = true;
    heap_set(&engine->clock, core_event(engine, index), engine->now_ns + latency);
}

void cpu_wake(struct engine *engine, struct thread *thread, struct thread *waker) {
    bool begins = thread->state == THREAD_UNBORN, slept = !thread->is_awake;
    if (engine->observer)
        report_wake(engine, thread, waker);
    if (waker && !begins && (waker == thread->creator || thread == waker->creator))
        slept = false; /* one and the same in the program */
    bool is_ideal = fair_is_shared(engine), stayed = thread->is_delayed;
    thread->is_awake = false;
    int index = is_ideal ? idle_core(engine, thread)
                : stayed ? thread->last_core
                         : balance_place(engine, thread, waker);
    int queue = index == PLAN_NONE ? 0 : index;
    thread->remaining_ns = thread->debt_ns;
    if (slept && !begins)
        thread->remaining_ns += engine->plan->block_cpu_ns + caches_cold_start(engine, thread);
    thread->debt_ns = 0;
    bool competes = fair_competitors(engine, queue) > 1;
    if (stayed)
        fair_rejoin(engine, thread, queue);
    fair_charge(engine, queue);
    if (!stayed)
        fair_join(engine, thread, queue, begins);
    if (!is_ideal) {
        thread->last_core = index;
        if (!stayed)
            balance_count(engine, thread, index, +1);
    }
    if (index != PLAN_NONE && !engine->cores[index].running) {
        if (slept)
            interrupt(engine, index, waker);
        run_on_idle(engine, thread, index, slept);
        return;
    }
    enqueue(engine, thread);
    int at = preemptible(engine, queue);
    if (at == PLAN_NONE)
        return;
    struct thread *running = engine->cores[at].running;
    bool is_over = !is_ideal && competes && running->vruntime_ns >= running->protected_ns;
    if (is_over || fair_pick(engine, at, running) == thread)
        preempt(engine, at, waker);
}

void cpu_spin(struct engine *engine, struct thread *thread) {
    thread->is_spinning = true;
    engine->n_spinning++;
    engine->cores[thread->core].done_ns = INFINITY;
    arm(engine, thread->core);
}

void cpu_stop_spinning(struct engine *engine, struct thread *thread) {
    thread->is_spinning = false;
    engine->n_spinning--;
    if (thread->state != THREAD_RUNNING) {
        thread->remaining_ns = 0; /* goes on when it gets a core */
        return;
    }
    engine->cores[thread->core].done_ns = engine->now_ns;
    if (heap_has(&engine->clock, core_event(engine, thread->core)))
        arm(engine, thread->core);
}

static void end_slice(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    struct thread *thread = core->running;
    if (pick(engine, index, thread) == thread) {
        core->slice_end_ns = slice_end(engine, thread);
        arm(engine, index);
        return;
    }
    thread->remaining_ns = caches_interrupt(engine, thread, core->done_ns - engine->now_ns);
    caches_leave(engine, thread, index);
    balance_runs(engine, thread, false);
    thread->ran_ns = engine->now_ns;
    fair_put_back(engine, thread, index);
    enqueue(engine, thread);
    dispatch(engine, index);
}

/* The event has been taken off the clock. */
bool cpu_only_spins(struct engine *engine, int index) {
    const struct core *core = &engine->cores[index];
    if (core->is_starting || !core->running->is_spinning)
        return false;
    fair_charge(engine, index);
    uint32_t running = (uint32_t)engine->plan->cores - engine->n_idle;
    uint32_t ticks = heap_has(&engine->clock, tick_event(engine));
    return engine->now_ns < core->done_ns && engine->n_spinning == running + engine->n_ready &&
           engine->clock.count - ticks + 1 == running && engine->turn_n == 0;
}

void cpu_handle_event(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    if (core->is_starting) {
        core->is_starting = false;
        struct thread *woken = core->running;
        if (fair_ready(fair_queue_of(engine, index)) == 0 || fair_is_shared(engine)) {
            start(engine, index);
            return;
        }
        fair_put_back(engine, woken, index); /* others have come to this core meanwhile */
        enqueue(engine, woken);
        dispatch(engine, index);
        return;
    }
    fair_charge(engine, index);
    if (engine->now_ns >= core->done_ns) {
        engine_take_turn(engine, core->running);
        return;
    }
    end_slice(engine, index);
}

void cpu_handle_tick(struct engine *engine) {
    balance_tick(engine);
    for (int i = 0; i < engine->plan->cores; i++)
        if (!engine->cores[i].running && fair_ready(&engine->queues[i]) > 0) {
            take_idle(engine, i);
            dispatch(engine, i);
        }
    if (engine->n_ready > 0)
        arm_tick(engine);
}
