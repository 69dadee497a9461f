#include "critical-path/replay_cores.h"

#include <math.h>

#include "base/memory.h"

/* Linux' sysctl_sched_base_slice for one core; longer with more of them, up to eight. */
#define BASE_SLICE_NS 700000
/* More of them in a run make no difference to its time: of an hour they are 4 ms. */
#define MOST_SLICES 1e6

void replay_cores_begin(struct replay_state *replay, int cores) {
    replay->n_cores = replay->n_free = cores;
    replay->running = memory_alloc((size_t)cores, sizeof *replay->running);
    replay->slice_ns = fmax(BASE_SLICE_NS * (1 + floor(log2(fmin(cores, 8)))),
                            (double)replay->all->run_ns / MOST_SLICES);
    replay->tick_ns = replay->all->tick_ns;
}

/* The first tick behind the end of the slice. */
static double slice_end(const struct replay_state *replay, const struct runner *runner) {
    double end_ns = runner->began_ns + replay->slice_ns;
    return replay->tick_ns > 0 ? ceil(end_ns / replay->tick_ns) * replay->tick_ns : end_ns;
}

static void arm(struct replay_state *replay, const struct runner *runner) {
    double done_ns = runner->since_ns + runner->left_ns;
    if (replay->queue.count > 0)
        done_ns = runner->gives_way
                      ? replay->now_ns
                      : fmin(done_ns, fmax(slice_end(replay, runner), replay->now_ns));
    heap_set(&replay->clock, runner->id, done_ns);
}

static void charge(const struct replay_state *replay, struct runner *runner) {
    double ran_ns = replay->now_ns - runner->since_ns;
    runner->left_ns = fmax(runner->left_ns - ran_ns, 0);
    runner->since_ns = replay->now_ns;
}

bool replay_cores_spins(const struct runner *runner) {
    return runner->is_spinning && runner->left_ns > 0;
}

/* The moment of the run that it has come to. Who spins comes no farther before others do. */
static double come_to(const struct replay_state *replay, const struct runner *runner) {
    bool has_ended = runner->at == DEPENDENCIES_NONE;
    if (replay_cores_spins(runner))
        return INFINITY;
    return has_ended ? 0 : (double)replay->all->steps[runner->at].end_ns - runner->left_ns;
}

/* ---- who has a core ---- */

static void take_up(struct replay_state *replay, struct runner *runner, double latency_ns) {
    replay->n_free--;
    replay->running[replay->n_running++] = runner->id;
    runner->state = RUNNER_STARTING;
    heap_set(&replay->clock, runner->id, replay->now_ns + latency_ns);
}

static void give_up(struct replay_state *replay, struct runner *runner) {
    size_t i = 0;
    while (replay->running[i] != runner->id)
        i++;
    replay->running[i] = replay->running[--replay->n_running];
    replay->n_free++;
    heap_remove(&replay->clock, runner->id);
}

static double latency(struct replay_state *replay, const struct runner *runner) {
    return runner->back_ns >= 0 ? runner->back_ns : costs_next(&replay->recorded.coming_back);
}

static void take_first(struct replay_state *replay) {
    if (replay->queue.count == 0 || replay->n_free == 0)
        return;
    struct runner *runner = &replay->runners[heap_first(&replay->queue)->id];
    heap_remove(&replay->queue, runner->id);
    replay->out->waited_ns[replay->all->n_objects] += replay->now_ns - runner->began_ns;
    take_up(replay, runner, latency(replay, runner));
}

static void queue_up(struct replay_state *replay, struct runner *runner) {
    runner->state = RUNNER_QUEUED;
    runner->began_ns = replay->now_ns;
    heap_set(&replay->queue, runner->id, come_to(replay, runner));
    for (size_t i = 0; i < replay->n_running; i++)
        if (replay->runners[replay->running[i]].state == RUNNER_ON_CORE)
            arm(replay, &replay->runners[replay->running[i]]);
}

static void push_off(struct replay_state *replay, struct runner *runner) {
    charge(replay, runner);
    give_up(replay, runner);
    runner->back_ns = 0;
    queue_up(replay, runner);
}

/* The one that is farthest ahead of the woken one; NULL: nobody is. */
static struct runner *farthest_ahead(const struct replay_state *replay,
                                     const struct runner *woken) {
    struct runner *farthest = NULL;
    double most_ns = come_to(replay, woken);
    for (size_t i = 0; i < replay->n_running; i++) {
        struct runner *runner = &replay->runners[replay->running[i]];
        if (runner->state != RUNNER_ON_CORE)
            continue;
        charge(replay, runner);
        double own_ns = come_to(replay, runner);
        if (own_ns > most_ns) {
            farthest = runner;
            most_ns = own_ns;
        }
    }
    return farthest;
}

void replay_cores_wake(struct replay_state *replay, struct runner *runner) {
    if (replay->n_free > 0) {
        take_up(replay, runner, latency(replay, runner));
        return;
    }
    struct runner *gives_way = farthest_ahead(replay, runner);
    if (!gives_way || gives_way == replay->current) {
        queue_up(replay, runner);
        if (gives_way)
            gives_way->gives_way = true;
        return;
    }
    push_off(replay, gives_way);
    take_up(replay, runner, latency(replay, runner));
}

void replay_cores_leave(struct replay_state *replay, struct runner *runner,
                        enum runner_state state) {
    bool has_core = runner->state == RUNNER_ON_CORE;
    runner->state = state;
    runner->gives_way = false;
    if (!has_core || !runner->needs_core)
        return;
    give_up(replay, runner);
    take_first(replay);
}

bool replay_cores_compute(struct replay_state *replay, struct runner *runner, double ns) {
    if (ns <= 0)
        return false;
    charge(replay, runner);
    runner->left_ns = ns;
    arm(replay, runner);
    return true;
}

void replay_cores_look(struct replay_state *replay, struct runner *runner) {
    runner->left_ns = 0;
    runner->since_ns = replay->now_ns;
    if (runner->state == RUNNER_ON_CORE)
        heap_set(&replay->clock, runner->id, replay->now_ns);
    else if (runner->state == RUNNER_QUEUED)
        heap_set(&replay->queue, runner->id, come_to(replay, runner));
}

/* ---- what happens on a core ---- */

static void end_slice(struct replay_state *replay, struct runner *runner) {
    runner->gives_way = false;
    bool is_first =
        replay->queue.count == 0 || heap_first(&replay->queue)->key > come_to(replay, runner);
    if (is_first) {
        runner->began_ns = replay->now_ns; /* goes on with a new slice */
        arm(replay, runner);
        return;
    }
    push_off(replay, runner);
    take_first(replay);
}

bool replay_cores_happen(struct replay_state *replay, struct runner *runner) {
    if (runner->state == RUNNER_STARTING) {
        runner->state = RUNNER_ON_CORE;
        runner->began_ns = runner->since_ns = replay->now_ns;
        if (runner->is_spinning)
            return true; /* it looks again */
        if (runner->left_ns <= 0)
            return true;
        arm(replay, runner);
        return false;
    }
    charge(replay, runner);
    if (runner->left_ns <= 1e-3 && !runner->gives_way)
        return true;
    end_slice(replay, runner);
    return false;
}
