/* What Linux's fair scheduler gives to threads of equal weight, on one ready queue for all cores.
 *
 * A thread's virtual runtime is the CPU time it has had. The ready queue is ordered by it, so the
 * one that had least runs next, for one quantum; a thread that is alone keeps its core. A woken
 * thread is placed no further back than one quantum before the others: it may have slept for
 * long, but sleeping is not saved up. It preempts a running thread that is ahead of it by more
 * than a quarter of a quantum; so a thread that mostly waits is served at once beside CPU
 * hogs, while two hogs that wake each other do not preempt at every wake-up. That is the
 * behaviour of CFS and EEVDF that matters here; of per-core queues and balancing only the
 * goal is kept, that no core idles while a thread is ready.
 *
 * Whole-core costs: a switch between different threads costs CPU; a wake-up on an idle core takes
 * wall time but no CPU (leaving the idle state); going to sleep and coming back costs the sleeper
 * CPU, charged when it comes back. */
#include "simulator/cpu.h"

#include <math.h>

#define GRANULARITY 0.25 /* of a quantum; see above */

static uint32_t core_event(const struct engine *engine, int core) {
    return (uint32_t)(engine->plan->n_threads + core);
}

void cpu_set_state(struct engine *engine, struct thread *thread, enum thread_state state) {
    thread->time_ns[thread->state] += engine->now_ns - thread->since_ns;
    thread->since_ns = engine->now_ns;
    thread->state = state;
}

static void put_idle(struct engine *engine, int core) {
    engine->cores[core].running = NULL;
    engine->cores[core].idle_position = engine->n_idle;
    engine->idle_cores[engine->n_idle++] = core;
}

/* The core where the thread ran last if that is idle (its cache is warm, and Linux does so),
 * else the one that became idle last. */
static int take_idle(struct engine *engine, const struct thread *thread) {
    int last = thread->last_core;
    int core = last != PLAN_NONE && !engine->cores[last].running
                   ? last
                   : engine->idle_cores[engine->n_idle - 1];
    uint32_t hole = engine->cores[core].idle_position;
    int moved = engine->idle_cores[--engine->n_idle];
    engine->idle_cores[hole] = moved;
    engine->cores[moved].idle_position = hole;
    return core;
}

void cpu_reset(struct engine *engine) {
    engine->n_idle = 0;
    engine->n_spinning = 0;
    engine->min_vruntime_ns = 0;
    for (int i = engine->plan->cores - 1; i >= 0; i--) {
        engine->cores[i] = (struct core){0};
        put_idle(engine, i);
    }
}

static void charge(struct engine *engine, struct core *core) {
    core->running->vruntime_ns += engine->now_ns - core->charged_ns;
    core->charged_ns = engine->now_ns;
}

static void arm(struct engine *engine, int index) {
    const struct core *core = &engine->cores[index];
    double due = fmin(core->done_ns, core->slice_end_ns);
    heap_set(&engine->clock, core_event(engine, index), fmax(due, engine->now_ns));
}

/* The core's chosen thread begins to run. */
static void start(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    struct thread *thread = core->running;
    cpu_set_state(engine, thread, THREAD_RUNNING);
    thread->core = index;
    thread->last_core = index;
    core->charged_ns = engine->now_ns;
    core->slice_end_ns = engine->now_ns + engine->plan->quantum_ns;
    const struct shared *spins_for =
        thread->is_spinning ? &engine->objects[engine->plan->nodes[thread->node].object] : NULL;
    if (spins_for && spins_for->kind == OBJECT_SPIN && !spins_for->owner)
        thread->remaining_ns = 0; /* the lock became free while it was off the CPU */
    if (core->last && core->last != thread)
        thread->remaining_ns += engine->plan->switch_cpu_ns;
    core->last = thread;
    core->done_ns = engine->now_ns + thread->remaining_ns;
    if (thread->remaining_ns > 0)
        arm(engine, index);
    else
        engine_take_turn(engine, thread);
}

static void dispatch(struct engine *engine, int index) {
    if (engine->ready.count == 0) {
        put_idle(engine, index);
        return;
    }
    struct thread *thread = &engine->threads[heap_first(&engine->ready)->id];
    heap_remove(&engine->ready, thread->id);
    engine->cores[index].running = thread;
    start(engine, index);
}

static void leave_core(struct engine *engine, struct thread *thread, enum thread_state state) {
    struct core *core = &engine->cores[thread->core];
    charge(engine, core);
    cpu_set_state(engine, thread, state);
    heap_remove(&engine->clock, core_event(engine, thread->core));
    dispatch(engine, thread->core);
}

bool cpu_compute(struct engine *engine, struct thread *thread, double demand_ns) {
    double demand = demand_ns + thread->debt_ns;
    thread->debt_ns = 0;
    if (demand <= 0)
        return false;
    engine->cores[thread->core].done_ns = engine->now_ns + demand;
    arm(engine, thread->core);
    return true;
}

void cpu_block(struct engine *engine, struct thread *thread) {
    leave_core(engine, thread, THREAD_BLOCKED);
}

void cpu_end(struct engine *engine, struct thread *thread) {
    leave_core(engine, thread, THREAD_ENDED);
}

/* Finds the running thread that is furthest ahead and brings min_vruntime up to date. */
static int survey_cores(struct engine *engine) {
    double least = engine->ready.count ? heap_first(&engine->ready)->key : INFINITY;
    double most = -INFINITY;
    int furthest = PLAN_NONE;
    for (int i = 0; i < engine->plan->cores; i++) {
        struct core *core = &engine->cores[i];
        if (!core->running)
            continue;
        if (!core->is_starting)
            charge(engine, core);
        double vruntime = core->running->vruntime_ns;
        least = fmin(least, vruntime);
        if (!core->is_starting && vruntime > most && core->slice_end_ns > engine->now_ns) {
            most = vruntime;
            furthest = i;
        }
    }
    if (isfinite(least))
        engine->min_vruntime_ns = fmax(engine->min_vruntime_ns, least);
    return furthest;
}

static void enqueue(struct engine *engine, struct thread *thread) {
    cpu_set_state(engine, thread, THREAD_READY);
    heap_set(&engine->ready, thread->id, thread->vruntime_ns);
}

/* Ends the slice of core `index` now. A thread in the middle of an instantaneous operation is not
 * on the clock; it meets the end of its slice at its next demand. */
static void preempt(struct engine *engine, int index) {
    engine->cores[index].slice_end_ns = engine->now_ns;
    if (heap_has(&engine->clock, core_event(engine, index)))
        arm(engine, index);
}

void cpu_wake(struct engine *engine, struct thread *thread) {
    const struct plan *plan = engine->plan;
    bool begins = thread->state == THREAD_UNBORN;
    int furthest = survey_cores(engine);
    double earliest = engine->min_vruntime_ns - (begins ? 0 : plan->quantum_ns);
    thread->vruntime_ns = fmax(thread->vruntime_ns, earliest);
    thread->remaining_ns = thread->debt_ns + (begins ? 0 : plan->block_cpu_ns);
    thread->debt_ns = 0;
    if (engine->n_idle == 0) {
        enqueue(engine, thread);
        if (furthest != PLAN_NONE &&
            engine->cores[furthest].running->vruntime_ns - thread->vruntime_ns >
                GRANULARITY * plan->quantum_ns)
            preempt(engine, furthest);
        return;
    }
    int index = take_idle(engine, thread);
    struct core *core = &engine->cores[index];
    core->running = thread;
    double latency = engine_draw(engine, plan->wake_latency, &thread->random);
    if (latency <= 0) {
        start(engine, index);
        return;
    }
    cpu_set_state(engine, thread, THREAD_READY);
    core->is_starting = true;
    heap_set(&engine->clock, core_event(engine, index), engine->now_ns + latency);
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

/* Whether all that still happens is threads spinning for locks that nobody will free. */
static bool only_spins(const struct engine *engine) {
    uint32_t running = (uint32_t)engine->plan->cores - engine->n_idle;
    return engine->n_spinning == running + engine->ready.count &&
           engine->clock.count + 1 == running && engine->turn_n == 0;
}

static void end_slice(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    struct thread *thread = core->running;
    if (thread->is_spinning && only_spins(engine)) {
        engine_break_stall(engine);
        if (!thread->is_spinning) {
            engine_take_turn(engine, thread);
            return;
        }
    }
    thread->remaining_ns = core->done_ns - engine->now_ns;
    core->slice_end_ns = engine->now_ns + engine->plan->quantum_ns;
    if (engine->ready.count == 0 || heap_first(&engine->ready)->key > thread->vruntime_ns) {
        arm(engine, index);
        return;
    }
    enqueue(engine, thread);
    dispatch(engine, index);
}

/* The event has been taken off the clock. */
void cpu_handle_event(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    if (core->is_starting) {
        core->is_starting = false;
        start(engine, index);
        return;
    }
    charge(engine, core);
    if (engine->now_ns >= core->done_ns) {
        engine_take_turn(engine, core->running);
        return;
    }
    end_slice(engine, index);
}
