#include "simulator/balance.h"

#include <math.h>

#include "simulator/fair.h"

/* The kernel's own constants. */
#define LOAD_WINDOW_NS 46.2e6 /* load averages halve in 32 ms */
#define HOT_NS         5e5  /* sysctl_sched_migration_cost: ran this recently, its cache is warm */
#define BUSY_TICKS     16   /* sd->busy_factor: a busy core looks around this much less often */
#define TOLERATED      1    /* sd->cache_nice_tries: then warm threads are moved too */
#define IMBALANCE      1.17 /* sd->imbalance_pct */
#define HALVING_NS     1e9  /* HZ jiffies */
#define SCAN_LIMIT     32   /* sysctl_sched_nr_migrate */

static double average_at(struct average *average, double now_ns) {
    double passed = (now_ns - average->at_ns) / LOAD_WINDOW_NS;
    average->at_ns = now_ns;
    double kept = 1 / (1 + passed * (1 + passed / 2)); /* exp(-passed), nearly */
    average->value = average->level + (average->value - average->level) * kept;
    return average->value;
}

static void count_core(struct engine *engine, int index, int change) {
    struct core *core = &engine->cores[index];
    average_at(&core->load, engine->now_ns);
    average_at(&core->use, engine->now_ns);
    core->load.level += change;
    core->use.level = core->load.level > 0;
}

void balance_count(struct engine *engine, struct thread *thread, int index, int change) {
    count_core(engine, index, change);
    average_at(&thread->load, engine->now_ns);
    thread->load.level += change;
}

void balance_runs(struct engine *engine, struct thread *thread, bool runs) {
    average_at(&thread->use, engine->now_ns);
    thread->use.level = runs;
}

/* The thread is one more (+1), or one less (-1), of those that belong to the core. */
static void move_averages(struct engine *engine, struct thread *thread, int index, int change) {
    struct core *core = &engine->cores[index];
    double load = average_at(&core->load, engine->now_ns), now_ns = engine->now_ns;
    double use = average_at(&core->use, now_ns);
    core->load.value = fmax(load + change * average_at(&thread->load, now_ns), 0);
    core->use.value = fmax(use + change * average_at(&thread->use, now_ns), 0);
}

/* The load of a core is that of the threads that belong there, asleep or not: it goes with them. */
static void move_load(struct engine *engine, struct thread *thread, int from, int to) {
    if (from != PLAN_NONE)
        move_averages(engine, thread, from, -1);
    move_averages(engine, thread, to, +1);
}

void balance_end(struct engine *engine, struct thread *thread) {
    move_averages(engine, thread, thread->last_core, -1);
}

/* ---- placing ---- */

static bool is_idle(const struct engine *engine, int index) {
    return engine->cores[index].load.level <= 0;
}

static bool has_spare(struct engine *engine, int index) {
    return average_at(&engine->cores[index].use, engine->now_ns) * IMBALANCE < 1;
}

/* What the kernel expects of a thread that begins on the core: no more than half of what is left of
 * it, nor than what those that are there use. */
static double expected_use(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    double use = average_at(&core->use, engine->now_ns), rest = fmax((1 - use) / 2, 0);
    double load = average_at(&core->load, engine->now_ns);
    return use > 0 && load > 0 ? fmin(use / load, rest) : rest;
}

/* A thread that begins goes to an idle core. Without any it stays on its creator's while those that
 * are there leave something of it; else it goes where there is less load. */
static int place_new(struct engine *engine, const struct thread *creator) {
    int local = creator ? creator->core : 0, least = 0;
    for (int i = 0; i < engine->plan->cores; i++) {
        if (is_idle(engine, i))
            return i;
        double load = average_at(&engine->cores[i].load, engine->now_ns);
        if (load < engine->cores[least].load.value)
            least = i;
    }
    if (has_spare(engine, local))
        return local;
    double load = engine->cores[local].load.value;
    return load <= IMBALANCE * engine->cores[least].load.value && !has_spare(engine, least) ? local
                                                                                            : least;
}

/* Between the waker's core and the previous one of a thread, both busy: the less loaded one, as if
 * the thread were already there. */
static int less_loaded(struct engine *engine, struct thread *thread, int waker, int previous) {
    double own = average_at(&thread->load, engine->now_ns);
    double here = average_at(&engine->cores[waker].load, engine->now_ns) + own;
    double there = average_at(&engine->cores[previous].load, engine->now_ns) - own;
    return here < there * (1 + (IMBALANCE - 1) / 2) ? waker : previous;
}

/* How many cores a wake-up may look at for an idle one; few when the machine is busy. By the
 * kernel's rule that would be the other one of two cores while they are used by less than 60 %; in
 * 190 recordings on two cores it was taken in 2 to 4 % of the cases, however busy they were. */
static int scan_width(struct engine *engine) {
    if (engine->plan->cores <= 2)
        return 0;
    double use = 0;
    for (int i = 0; i < engine->plan->cores; i++)
        use += average_at(&engine->cores[i].use, engine->now_ns);
    double busy = use / engine->plan->cores * IMBALANCE;
    return busy < 1 ? (int)(engine->plan->cores * (1 - busy * busy)) : 0;
}

static void record_wake(const struct engine *engine, struct thread *waker,
                        const struct thread *woken) {
    struct wake_record *wakes = &waker->wakes;
    if (engine->now_ns > wakes->halved_ns + HALVING_NS) {
        wakes->flips = floor(wakes->flips / 2);
        wakes->halved_ns = engine->now_ns;
    }
    wakes->flips += wakes->last != (int)woken->id;
    wakes->last = (int)woken->id;
}

/* Does one of the two wake many others, and far more than the other? Whom it wakes then keeps to
 * its own core. */
static bool wakes_widely(const struct engine *engine, const struct thread *waker,
                         const struct thread *woken) {
    double more = fmax(waker->wakes.flips, woken->wakes.flips);
    double less = fmin(waker->wakes.flips, woken->wakes.flips);
    return less >= engine->plan->cores && more >= less * engine->plan->cores;
}

static int place_woken(struct engine *engine, struct thread *thread, struct thread *waker) {
    int previous = thread->last_core;
    int target = previous;
    if (waker)
        record_wake(engine, waker, thread);
    if (waker && waker->core != previous && !is_idle(engine, previous) &&
        !wakes_widely(engine, waker, thread))
        target = less_loaded(engine, thread, waker->core, previous);
    if (is_idle(engine, target))
        return target;
    if (is_idle(engine, previous))
        return previous;
    int recent = thread->recent_core; /* noted by those only who come to here */
    thread->recent_core = previous;
    if (recent != PLAN_NONE && is_idle(engine, recent))
        return recent;
    int width = scan_width(engine), cores = engine->plan->cores;
    for (int i = 1; i <= width && i < cores; i++) {
        int other = target + i < cores ? target + i : target + i - cores;
        if (is_idle(engine, other))
            return other;
    }
    return target;
}

int balance_place(struct engine *engine, struct thread *thread, struct thread *waker) {
    int previous = thread->last_core;
    bool is_own = waker && waker == thread->creator; /* which goes on itself */
    int index = is_own                  ? waker->core
                : previous == PLAN_NONE ? place_new(engine, waker)
                                        : place_woken(engine, thread, waker);
    if (previous == PLAN_NONE) {
        thread->load = (struct average){.value = 1, .at_ns = engine->now_ns};
        thread->use =
            (struct average){.value = expected_use(engine, index), .at_ns = engine->now_ns};
    }
    if (index != previous)
        move_load(engine, thread, previous, index);
    return index;
}

/* ---- moving ---- */

/* With those that are asleep but still in the queue. They cannot be moved. */
static int queued(const struct engine *engine, int index) {
    return (int)engine->cores[index].load.level;
}

static bool is_hot(const struct engine *engine, const struct thread *thread) {
    return engine->now_ns - thread->ran_ns < HOT_NS;
}

/* The core with the most threads, PLAN_NONE if none has more than one. */
static int busiest_core(const struct engine *engine, int except) {
    int busiest = PLAN_NONE;
    for (int i = 0; i < engine->plan->cores; i++)
        if (i != except && queued(engine, i) > 1 &&
            (busiest == PLAN_NONE || queued(engine, i) > queued(engine, busiest)))
            busiest = i;
    return busiest;
}

/* A ready thread changes from the queue of one core to that of another. */
static void move(struct engine *engine, struct thread *thread, int from, int to) {
    fair_charge(engine, from);
    fair_charge(engine, to);
    fair_move(engine, thread, from, to);
    thread->last_core = to;
}

/* Takes the thread that has waited longest on core `from`. */
static bool pull(struct engine *engine, int from, int to, bool even_hot) {
    const struct heap *waiting = &engine->queues[from].waiting;
    struct thread *longest = NULL;
    for (uint32_t i = 0; i < waiting->count && i < SCAN_LIMIT; i++) {
        struct thread *thread = &engine->threads[waiting->entries[i].id];
        if (!thread->is_delayed && (even_hot || !is_hot(engine, thread)) &&
            (!longest || thread->since_ns < longest->since_ns))
            longest = thread;
    }
    if (!longest)
        return false;
    count_core(engine, from, -1);
    count_core(engine, to, +1);
    move_load(engine, longest, from, to);
    move(engine, longest, from, to);
    return true;
}

bool balance_newly_idle(struct engine *engine, int index) {
    int from = busiest_core(engine, index);
    return from != PLAN_NONE && random_unit(&engine->dice) < engine->plan->pull_share &&
           pull(engine, from, index, false);
}

static void balance_core(struct engine *engine, int index) {
    struct core *core = &engine->cores[index];
    int from = busiest_core(engine, index);
    int surplus = from == PLAN_NONE ? 0 : queued(engine, from) - queued(engine, index);
    if (surplus < 1)
        return;
    bool is_near = surplus == 1 && core->balance_failures < 1; /* moving it would only swap them */
    if (!is_near && pull(engine, from, index, core->balance_failures > TOLERATED))
        core->balance_failures = 0;
    else
        core->balance_failures++;
}

void balance_tick(struct engine *engine) {
    int cores = engine->plan->cores;
    long tick = lround(engine->now_ns / engine->plan->tick_ns);
    for (int i = 0; i < cores; i++)
        if (is_idle(engine, i) || (tick + i) % BUSY_TICKS == 0)
            balance_core(engine, i);
}
