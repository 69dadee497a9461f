/* What Linux's fair scheduler (EEVDF, since 6.6) gives to threads of equal weight.
 *
 * A thread's virtual runtime is the CPU time it has had; the average over all threads of a queue is
 * what each should have had. The one with least runs next, for one quantum; a thread that is alone
 * keeps its core. A thread that goes to sleep behind the average gets that lag back when it wakes;
 * one that is ahead is delayed: it stays in the queue and counts for the average until the others
 * have caught up. A woken thread preempts the running one if that is ahead of the average then. So
 * threads that mostly wait are served at once beside CPU hogs, and threads that hand a lock to and
 * fro preempt each other or not as their shares stand.
 *
 * Every core has a ready queue of its own; balance.c says in which a thread is placed and when it
 * is moved. Where the model's machine has no tick, cores are ideal: one queue serves all, and none
 * idles while a thread is ready.
 *
 * Whole-core costs: a switch between different threads costs CPU; a wake-up on an idle core takes
 * wall time but no CPU (leaving the idle state); going to sleep and coming back costs the sleeper
 * CPU, charged when it comes back. */
#include "simulator/cpu.h"

#include <math.h>

#include "simulator/balance.h"

#define ROUNDING_NS 1
/* Balancing is left to a softirq: by then the busy cores have ended the slices that the tick ends,
 * and what idle cores could take has just been running. */
#define AFTER_TICK_NS 1000

static bool is_shared(const struct engine *engine) {
    return engine->plan->tick_ns <= 0;
}

static struct ready_queue *queue_of(const struct engine *engine, int core) {
    return &engine->queues[is_shared(engine) ? 0 : core];
}

static uint32_t tick_event(const struct engine *engine) {
    const struct plan *plan = engine->plan;
    return (uint32_t)(plan->n_threads + plan->cores + plan->n_objects);
}

/* The next moment on the grid of ticks, unless nobody waits: then there is nothing to balance. */
static void arm_tick(struct engine *engine) {
    double period = engine->plan->tick_ns;
    if (!is_shared(engine) && engine->plan->cores > 1 &&
        !heap_has(&engine->clock, tick_event(engine)))
        heap_set(&engine->clock, tick_event(engine),
                 (floor(engine->now_ns / period) + 1) * period + AFTER_TICK_NS);
}

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
        engine->queues[i].sum_vruntime_ns = engine->queues[i].average_ns = 0;
        heap_clear(&engine->queues[i].ready);
        heap_clear(&engine->queues[i].delayed);
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

/* Of a slice that begins now: ideal cores look at the clock all the time, others at every tick. */
static double slice_end(const struct engine *engine) {
    double end_ns = engine->now_ns + engine->plan->quantum_ns, tick_ns = engine->plan->tick_ns;
    return is_shared(engine) ? end_ns : ceil(end_ns / tick_ns) * tick_ns;
}

/* What a thread may be owed for later. */
static double longest_lag(const struct engine *engine) {
    return fmax(2 * engine->plan->quantum_ns, engine->plan->tick_ns);
}

/* The core's chosen thread begins to run. */
static void start(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    struct thread *thread = core->running;
    cpu_set_state(engine, thread, THREAD_RUNNING);
    thread->core = index;
    thread->last_core = index;
    core->charged_ns = engine->now_ns;
    core->slice_end_ns = slice_end(engine);
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

static void leave_queue(struct ready_queue *queue, struct heap *heap, const struct thread *thread) {
    heap_remove(heap, thread->id);
    bool is_empty = queue->ready.count + queue->delayed.count == 0;
    queue->sum_vruntime_ns = is_empty ? 0 : queue->sum_vruntime_ns - thread->vruntime_ns;
}

static void dequeue(struct engine *engine, struct ready_queue *queue, const struct thread *thread) {
    leave_queue(queue, &queue->ready, thread);
    engine->n_ready--;
}

struct survey {
    int furthest; /* the core whose thread is furthest ahead; PLAN_NONE if none can be preempted */
    double n;     /* threads that count: running, ready, delayed */
    double average_ns; /* of their vruntimes; without any, the last one known */
};

static void end_delay(struct ready_queue *queue, struct thread *thread) {
    leave_queue(queue, &queue->delayed, thread);
    thread->is_delayed = false;
    thread->lag_ns = 0;
}

/* Looks at all that share the queue of core `index`, and charges those that run. */
static struct survey survey(struct engine *engine, int index) {
    struct ready_queue *queue = queue_of(engine, index);
    bool is_ideal = is_shared(engine);
    int first = is_ideal ? 0 : index, end = is_ideal ? engine->plan->cores : index + 1;
    struct survey found = {.furthest = PLAN_NONE, .n = queue->ready.count};
    double running = 0, most = -INFINITY;
    for (int i = first; i < end; i++) {
        struct core *core = &engine->cores[i];
        if (!core->running)
            continue;
        if (!core->is_starting)
            charge(engine, core);
        double vruntime = core->running->vruntime_ns;
        running += vruntime;
        found.n++;
        if (!core->is_starting && vruntime > most && core->slice_end_ns > engine->now_ns) {
            most = vruntime;
            found.furthest = i;
        }
    }
    found.n += queue->delayed.count;
    if (found.n > 0)
        queue->average_ns = (queue->sum_vruntime_ns + running) / found.n;
    found.average_ns = queue->average_ns;
    return found;
}

/* Lets the delayed threads go that are no longer ahead of the average, or all if nobody else is
 * there. The kernel does so when it picks the next thread, and not before. */
static void drop_delayed(struct engine *engine, int index) {
    struct ready_queue *queue = queue_of(engine, index);
    while (queue->delayed.count > 0) {
        double average_ns = survey(engine, index).average_ns;
        if (queue->ready.count > 0 && heap_first(&queue->delayed)->key > average_ns)
            return;
        struct thread *thread = &engine->threads[heap_first(&queue->delayed)->id];
        end_delay(queue, thread);
        if (!is_shared(engine))
            balance_count(engine, thread, index, -1);
    }
}

/* A delayed thread is woken. It keeps its place, but gets no credit for its sleep. Of the thread
 * that runs only counts what had been charged before: the kernel does not look at the clock. */
static void requeue_delayed(struct engine *engine, struct ready_queue *queue, int index,
                            struct thread *thread) {
    const struct thread *running = is_shared(engine) ? NULL : engine->cores[index].running;
    double n = queue->ready.count + queue->delayed.count + (running ? 1 : 0);
    double sum_ns = queue->sum_vruntime_ns + (running ? running->vruntime_ns : 0);
    double vruntime_ns = thread->vruntime_ns;
    if (n > 1 && sum_ns / n > vruntime_ns)
        vruntime_ns = (sum_ns - vruntime_ns) / (n - 1);
    end_delay(queue, thread);
    thread->vruntime_ns = vruntime_ns;
}

static void dispatch(struct engine *engine, int index) {
    struct ready_queue *queue = queue_of(engine, index);
    engine->cores[index].running = NULL;
    drop_delayed(engine, index);
    if (queue->ready.count == 0 && (is_shared(engine) || !balance_newly_idle(engine, index))) {
        put_idle(engine, index);
        return;
    }
    struct thread *thread = &engine->threads[heap_first(&queue->ready)->id];
    dequeue(engine, queue, thread);
    engine->cores[index].running = thread;
    start(engine, index);
}

/* A thread that goes to sleep is behind its fair share, and keeps that for when it wakes, or ahead
 * of it, and stays in the queue until the others have caught up. */
static void keep_lag(struct engine *engine, struct thread *thread) {
    struct ready_queue *queue = queue_of(engine, thread->core);
    double lag = survey(engine, thread->core).average_ns - thread->vruntime_ns;
    thread->lag_ns = fmin(fmax(lag, 0), longest_lag(engine));
    if (lag >= -ROUNDING_NS || queue->ready.count == 0)
        return;
    thread->is_delayed = true;
    heap_set(&queue->delayed, thread->id, thread->vruntime_ns);
    queue->sum_vruntime_ns += thread->vruntime_ns;
}

static void leave_core(struct engine *engine, struct thread *thread, enum thread_state state) {
    keep_lag(engine, thread);
    cpu_set_state(engine, thread, state);
    thread->ran_ns = engine->now_ns;
    heap_remove(&engine->clock, core_event(engine, thread->core));
    if (!is_shared(engine) && !thread->is_delayed)
        balance_count(engine, thread, thread->core, -1);
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

static void enqueue(struct engine *engine, struct ready_queue *queue, struct thread *thread) {
    cpu_set_state(engine, thread, THREAD_READY);
    heap_set(&queue->ready, thread->id, thread->vruntime_ns);
    queue->sum_vruntime_ns += thread->vruntime_ns;
    engine->n_ready++;
    arm_tick(engine);
}

/* Ends the slice of core `index` now. A thread in the middle of an instantaneous operation is not
 * on the clock; it meets the end of its slice at its next demand. */
static void preempt(struct engine *engine, int index) {
    engine->cores[index].slice_end_ns = engine->now_ns;
    if (heap_has(&engine->clock, core_event(engine, index)))
        arm(engine, index);
}

/* Gives a woken thread its place in a queue: as far behind the average as when it went to sleep. */
static void place(struct thread *thread, const struct survey *found) {
    thread->vruntime_ns = found->average_ns;
    if (found->n > 0) /* adding it moves the average: keep the distance to the new one */
        thread->vruntime_ns -= thread->lag_ns * (found->n + 1) / found->n;
}

/* The thread that runs goes on as long as it has had no more than its fair share, the woken one
 * counted in. */
static bool preempts(struct engine *engine, const struct thread *thread,
                     const struct ready_queue *queue, const struct survey *found) {
    if (found->furthest == PLAN_NONE || heap_first(&queue->ready)->id != thread->id ||
        (queue->delayed.count > 0 && heap_first(&queue->delayed)->key < thread->vruntime_ns))
        return false;
    double average = (found->average_ns * found->n + thread->vruntime_ns) / (found->n + 1);
    return engine->cores[found->furthest].running->vruntime_ns > average + ROUNDING_NS;
}

static void run_on_idle(struct engine *engine, struct thread *thread, int index, bool slept) {
    struct core *core = &engine->cores[index];
    take_idle(engine, index);
    core->running = thread;
    double latency = slept ? engine_draw(engine, engine->plan->wake_latency, &thread->random) : 0;
    if (latency <= 0) {
        start(engine, index);
        return;
    }
    cpu_set_state(engine, thread, THREAD_READY);
    core->is_starting = true;
    heap_set(&engine->clock, core_event(engine, index), engine->now_ns + latency);
}

void cpu_wake(struct engine *engine, struct thread *thread, struct thread *waker) {
    bool begins = thread->state == THREAD_UNBORN;
    bool slept = !thread->is_awake;
    thread->is_awake = false;
    bool is_ideal = is_shared(engine);
    int index = is_ideal             ? idle_core(engine, thread)
                : thread->is_delayed ? thread->last_core
                                     : balance_place(engine, thread, waker);
    int queue_core = index == PLAN_NONE ? 0 : index;
    struct ready_queue *queue = queue_of(engine, queue_core);
    bool is_counted = thread->is_delayed;
    if (is_counted)
        requeue_delayed(engine, queue, queue_core, thread);
    struct survey found = survey(engine, queue_core);
    if (!is_counted)
        place(thread, &found);
    thread->remaining_ns = thread->debt_ns + (begins || !slept ? 0 : engine->plan->block_cpu_ns);
    thread->debt_ns = 0;
    if (!is_ideal) {
        thread->last_core = index;
        if (!is_counted)
            balance_count(engine, thread, index, +1);
    }
    if (index != PLAN_NONE && !engine->cores[index].running) {
        run_on_idle(engine, thread, index, slept);
        return;
    }
    enqueue(engine, queue, thread);
    if (preempts(engine, thread, queue, &found))
        preempt(engine, found.furthest);
}

void cpu_move(struct engine *engine, struct thread *thread, int from, int to) {
    struct survey left = survey(engine, from);
    dequeue(engine, &engine->queues[from], thread);
    thread->vruntime_ns += survey(engine, to).average_ns - left.average_ns;
    thread->last_core = to;
    enqueue(engine, &engine->queues[to], thread);
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
    uint32_t ticks = heap_has(&engine->clock, tick_event(engine));
    return engine->n_spinning == running + engine->n_ready &&
           engine->clock.count - ticks + 1 == running && engine->turn_n == 0;
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
    core->slice_end_ns = slice_end(engine);
    struct ready_queue *queue = queue_of(engine, index);
    if (queue->ready.count == 0 || heap_first(&queue->ready)->key > thread->vruntime_ns) {
        arm(engine, index);
        return;
    }
    thread->ran_ns = engine->now_ns;
    enqueue(engine, queue, thread);
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

void cpu_handle_tick(struct engine *engine) {
    balance_tick(engine);
    for (int i = 0; i < engine->plan->cores; i++)
        if (!engine->cores[i].running && engine->queues[i].ready.count > 0) {
            take_idle(engine, i);
            dispatch(engine, i);
        }
    if (engine->n_ready > 0)
        arm_tick(engine);
}
