/* Runners go through the steps of their threads. What a step waits for: see replay_objects.h, and
 * replay_cores.h for cores. Waits that no rule replays (a signal, a joined thread, bytes) end when
 * the step has come that ended them in the run. */
#include "critical-path/replay.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "critical-path/replay_cores.h"
#include "critical-path/replay_objects.h"

#define NONE DEPENDENCIES_NONE

static const struct dependency_step *step_at(const struct replay_state *replay, uint32_t step) {
    return &replay->all->steps[step];
}

/* ---- waking and sleeping ---- */

static void wake(struct replay_state *replay, struct runner *runner) {
    if (runner->waits_for != NONE)
        replay->out->waited_ns[runner->waits_for] += replay->now_ns - runner->waits_since_ns;
    runner->waits_for = NONE;
    if (runner->needs_core)
        replay_cores_wake(replay, runner);
    else
        heap_set(&replay->clock, runner->id, replay->now_ns);
}

static void sleep_for(struct replay_state *replay, struct runner *runner, double ns) {
    replay_cores_leave(replay, runner, RUNNER_ASLEEP);
    heap_set(&replay->clock, runner->id, replay->now_ns + ns);
}

static void sleep_until_step(struct replay_state *replay, struct runner *runner, uint32_t step) {
    runner->next = replay->sleepers[step];
    replay->sleepers[step] = runner->id;
    runner->waits_for = step_at(replay, runner->at)->object;
    runner->waits_since_ns = replay->now_ns;
    replay_cores_leave(replay, runner, RUNNER_ASLEEP);
}

static void wake_sleepers(struct replay_state *replay, uint32_t step) {
    uint32_t at = replay->sleepers[step];
    replay->sleepers[step] = NONE;
    while (at != NONE) {
        struct runner *runner = &replay->runners[at];
        at = runner->next;
        wake(replay, runner);
    }
}

/* ---- what giving something costs who does it ---- */

/* The runner has done the step's operation and lets `woken` go on; NULL: nobody. */
static void pay_for_waking(struct replay_state *replay, struct runner *runner, uint32_t step,
                           struct runner *woken) {
    uint32_t after = recorded_behind_pools(&replay->recorded, step);
    bool has_woken = after != NONE && replay->recorded.wakes[after];
    if (!woken) {
        runner->skips = has_woken ? after : NONE;
        return;
    }
    double cost_ns = has_woken ? recorded_lasted(&replay->recorded, after)
                               : costs_next(&replay->recorded.waking);
    if (woken->wakes_freely)
        cost_ns = 0;
    else
        runner->debt_ns += replay->recorded.behind_waking_ns + (has_woken ? 0 : cost_ns);
    if (woken->is_spinning) /* it sees for itself */
        replay_cores_look(replay, woken);
    else
        heap_set(&replay->clock, woken->id, replay->now_ns + cost_ns);
}

/* ---- one step ---- */

/* Who waits for a condition that a pool stands for, and was let go on. Waking them is a part of the
 * signal's own time. */
static void wake_for_pool(struct replay_state *replay, uint32_t pool) {
    double spare = -1;
    for (struct runner *woken; (woken = replay_objects_next_of_pool(replay, pool, &spare));)
        heap_set(&replay->clock, woken->id, replay->now_ns);
}

/* What the step's operation does to others. */
static void operate(struct replay_state *replay, struct runner *runner, uint32_t step) {
    const struct dependency_step *is = step_at(replay, step);
    if (is->operation == OPERATION_NONE || is->operation == OPERATION_SIGNAL)
        return;
    struct runner *woken = replay_objects_give(replay, runner, step);
    if (!replay->all->objects[is->operand].is_pool)
        pay_for_waking(replay, runner, step, woken);
    else if (is->operation == OPERATION_GIVE || is->operation == OPERATION_CLOSE)
        wake_for_pool(replay, is->operand);
}

static void note_done(struct replay_state *replay, uint32_t step) {
    replay->is_done[step] = true;
    replay->is_over |= step == replay->end;
    wake_sleepers(replay, step);
}

/* The wait that begins behind this step has been done, or was none, when its pool was taken from.
 */
static uint32_t pass_pause(struct replay_state *replay, uint32_t step) {
    do {
        step = replay->recorded.after[step];
        if (step != NONE)
            note_done(replay, step);
    } while (step != NONE && step_at(replay, step)->operation != OPERATION_RESUME);
    return step;
}

static void finish_step(struct replay_state *replay, struct runner *runner) {
    uint32_t step = runner->at;
    operate(replay, runner, step);
    note_done(replay, step);
    if (step_at(replay, step)->operation == OPERATION_PAUSE)
        step = pass_pause(replay, step);
    runner->at = step == NONE ? NONE : replay->recorded.after[step];
    runner->phase = PHASE_ENTER;
    runner->taking = runner->pooling = NONE;
    runner->has_paid = runner->is_forced = runner->has_pooled = false;
}

/* What the step takes with the change. */
static double changed_time(const struct replay_state *replay, uint32_t step) {
    double lasted_ns = recorded_lasted(&replay->recorded, step);
    return replay->change->weight(replay->all, step, lasted_ns, replay->change->context);
}

/* What the change leaves of the computing in that step. */
static double share_left(const struct replay_state *replay, uint32_t step) {
    double lasted_ns = step == NONE ? 0 : recorded_lasted(&replay->recorded, step);
    return lasted_ns > 0 ? changed_time(replay, step) / lasted_ns : 1;
}

/* Of the step's time, what does not come of having woken another one before. */
static double own_share(const struct replay_state *replay, uint32_t step) {
    uint32_t before = replay->recorded.before[step];
    if (before == NONE || !replay->recorded.wakes[before] ||
        step_at(replay, step)->kind != STEP_COMPUTE)
        return 1;
    double lasted_ns = recorded_lasted(&replay->recorded, step);
    return lasted_ns > 0 ? fmax(1 - replay->recorded.behind_waking_ns / lasted_ns, 0) : 1;
}

/* Its own time. Of being ready after others took its core away, only what other processes had: they
 * come as often as before in a second of computing, so less often where that takes less. */
static double own_time(const struct replay_state *replay, const struct runner *runner) {
    const struct dependency_step *step = step_at(replay, runner->at);
    uint32_t before = replay->recorded.before[runner->at];
    if (step->kind == STEP_READY)
        return before == NONE || step_at(replay, before)->kind == STEP_COMPUTE
                   ? (double)replay->recorded.kept_ns[runner->at] * share_left(replay, before)
                   : 0;
    return runner->skips == runner->at
               ? 0
               : changed_time(replay, runner->at) * own_share(replay, runner->at);
}

/* False: it goes on at this instant. */
static bool spend_own_time(struct replay_state *replay, struct runner *runner) {
    const struct dependency_step *step = step_at(replay, runner->at);
    double own_ns = own_time(replay, runner);
    runner->phase = PHASE_FINISH;
    if (step->kind == STEP_COMPUTE || step->kind == STEP_READY) {
        if (step->kind == STEP_COMPUTE) {
            own_ns += runner->debt_ns;
            runner->debt_ns = 0;
        }
        return replay_cores_compute(replay, runner, own_ns);
    }
    runner->back_ns = recorded_coming_back(&replay->recorded, runner->at);
    if (step->cause != NONE) {
        if (replay->is_done[step->cause])
            return false;
        sleep_until_step(replay, runner, step->cause);
        return true;
    }
    if (own_ns <= 0)
        return false;
    sleep_for(replay, runner, own_ns);
    return true;
}

static bool enter(struct replay_state *replay, struct runner *runner) {
    bool is_in_call = step_at(replay, runner->at)->in_call;
    if (is_in_call && !runner->in_call)
        runner->call = recorded_call(&replay->recorded, runner->at);
    runner->in_call = is_in_call && runner->at != runner->call.done;
    if (is_in_call && runner->call.waits == runner->at) {
        runner->taking = runner->call.done;
        runner->phase = PHASE_TAKE;
        return false;
    }
    return spend_own_time(replay, runner);
}

/* ---- taking ---- */

static bool take(struct replay_state *replay, struct runner *runner) {
    uint32_t taken = replay_objects_take(replay, runner);
    struct taking_call call = runner->call;
    bool has_waited = call.done == runner->taking && call.waits != NONE;
    if (taken == NONE && runner->pooling != NONE) {
        call = recorded_pool_wait(&replay->recorded, runner->pooling);
        has_waited = call.waits != NONE;
    }
    if (taken != NONE) {
        runner->is_spinning = false;
        runner->at = taken;
        runner->in_call = false;
        finish_step(replay, runner);
        return false;
    }
    if (runner->pooling == NONE && step_at(replay, runner->taking)->operation == OPERATION_SPIN) {
        replay_objects_wait(replay, runner);
        runner->is_spinning = true;
        return replay_cores_compute(replay, runner, INFINITY);
    }
    runner->wakes_freely = replay_objects_waits_for_turn(replay, runner);
    if (!runner->has_paid && !runner->wakes_freely) {
        runner->has_paid = true;
        double cost_ns = has_waited ? call.before_ns : costs_next(&replay->recorded.before_wait);
        if (replay_cores_compute(replay, runner, cost_ns))
            return true;
    }
    replay_objects_wait(replay, runner);
    runner->back_ns = runner->wakes_freely ? 0 : has_waited ? call.back_ns : -1;
    replay_cores_leave(replay, runner, RUNNER_ASLEEP);
    runner->left_ns = runner->wakes_freely ? 0
                      : has_waited         ? call.after_ns
                                           : costs_next(&replay->recorded.after_wait);
    return true;
}

/* The step's own time is over. */
static bool finish(struct replay_state *replay, struct runner *runner) {
    const struct dependency_step *step = step_at(replay, runner->at);
    enum step_operation operation = (enum step_operation)step->operation;
    bool is_of_pool = operation != OPERATION_NONE && replay->all->objects[step->operand].is_pool;
    if (!is_of_pool && (operation_takes(operation) || operation == OPERATION_GIVE)) {
        runner->taking = runner->at;
        runner->phase = PHASE_TAKE;
        return false;
    }
    if (!is_of_pool && step->limit != NONE && !replay->is_done[step->limit]) {
        runner->back_ns = -1;
        sleep_until_step(replay, runner, step->limit);
        return true;
    }
    finish_step(replay, runner);
    return false;
}

/* True: it does something, or waits. */
static bool advance(struct replay_state *replay, struct runner *runner) {
    if (runner->at == NONE) {
        replay_cores_leave(replay, runner, RUNNER_ENDED);
        return true;
    }
    switch (runner->phase) {
    case PHASE_ENTER:
        return enter(replay, runner);
    case PHASE_TAKE:
        return take(replay, runner);
    default:
        return finish(replay, runner);
    }
}

static void go_on(struct replay_state *replay, struct runner *runner) {
    replay->current = runner;
    while (!replay->is_over && !advance(replay, runner))
        ;
    replay->current = NULL;
}

/* ---- the run ---- */

static void happen(struct replay_state *replay, struct runner *runner) {
    if (!runner->needs_core) {
        go_on(replay, runner);
    } else if (runner->state == RUNNER_ASLEEP) {
        wake(replay, runner);
    } else if (replay_cores_happen(replay, runner)) {
        if (runner->is_spinning && runner->waits_for != NONE) {
            replay_objects_remove(replay, runner);
            runner->waits_for = NONE;
        }
        go_on(replay, runner);
    }
}

/* Will nothing happen but that spinning threads take turns on the cores? */
static bool only_spins(const struct replay_state *replay) {
    for (size_t t = 0; t < replay->all->n_threads; t++) {
        const struct runner *runner = &replay->runners[t];
        bool is_due = heap_has(&replay->clock, runner->id) &&
                      isfinite(replay->clock.entries[replay->clock.position[runner->id]].key);
        if ((is_due || runner->state == RUNNER_QUEUED) && !replay_cores_spins(runner))
            return false;
    }
    return true;
}

static bool is_stuck(const struct replay_state *replay) {
    if (replay->clock.count == 0 || isinf(heap_first(&replay->clock)->key))
        return true;
    return replay_cores_spins(&replay->runners[heap_first(&replay->clock)->id]) &&
           only_spins(replay);
}

/* Nothing can happen any more, as in the real program it would: who has waited longest by the
 * recorded order goes on. False: nobody waits. */
static bool force(struct replay_state *replay) {
    struct runner *first = NULL;
    for (size_t t = 0; t < replay->all->n_threads; t++) {
        struct runner *runner = &replay->runners[t];
        bool waits = (runner->state == RUNNER_ASLEEP || runner->is_spinning) && runner->at != NONE;
        if (waits && (!first || runner->at < first->at))
            first = runner;
    }
    if (!first)
        return false;
    replay->out->forced++;
    first->is_forced = true;
    if (first->taking != NONE) {
        replay_objects_remove(replay, first);
    } else {
        uint32_t cause = step_at(replay, first->at)->cause;
        uint32_t of = first->phase == PHASE_FINISH && cause != NONE && !replay->is_done[cause]
                          ? cause
                          : step_at(replay, first->at)->limit;
        uint32_t *link = &replay->sleepers[of];
        while (*link != first->id)
            link = &replay->runners[*link].next;
        *link = first->next;
        replay->is_done[of] = true;
    }
    if (first->is_spinning)
        replay_cores_look(replay, first);
    else
        heap_set(&replay->clock, first->id, replay->now_ns);
    return true;
}

static void begin_runner(struct replay_state *replay, uint32_t thread, uint64_t start_ns) {
    const struct dependency_thread *is = &replay->all->threads[thread];
    struct runner *runner = &replay->runners[thread];
    *runner = (struct runner){.id = thread,
                              .at = replay->recorded.first[thread],
                              .needs_core = !is->is_made,
                              .taking = NONE,
                              .pooling = NONE,
                              .skips = NONE,
                              .call = {.done = NONE, .waits = NONE},
                              .waits_for = NONE};
    if (runner->at == NONE) {
        runner->state = RUNNER_ENDED;
        return;
    }
    uint32_t cause = step_at(replay, runner->at)->cause;
    if (cause == NONE) {
        double at_ns = is->start_ns > start_ns ? (double)(is->start_ns - start_ns) : 0;
        heap_set(&replay->clock, thread, at_ns);
        return;
    }
    runner->phase = PHASE_FINISH;
    runner->back_ns = recorded_coming_back(&replay->recorded, runner->at);
    sleep_until_step(replay, runner, cause);
}

/* The same run, in which nothing tells what threads wait for under a mutex. */
static struct dependencies without_pools(const struct dependencies *all) {
    struct dependencies plain = *all;
    plain.steps = memory_alloc(all->n_steps, sizeof *plain.steps);
    for (size_t i = 0; i < all->n_steps; i++) {
        struct dependency_step *step = &plain.steps[i];
        *step = all->steps[i];
        if (step->operation == OPERATION_PAUSE)
            step->operation = OPERATION_WAIT;
        else if (step->operation == OPERATION_RESUME)
            step->operation = OPERATION_LOCK;
        else if (step->operation != OPERATION_NONE && all->objects[step->operand].is_pool) {
            step->operation = OPERATION_NONE;
            step->operand = step->limit = NONE;
        }
    }
    return plain;
}

static struct replay_state begin(const struct dependencies *all, const struct replay_change *change,
                                 struct replayed *out) {
    struct replay_state replay = {
        .all = all, .change = change, .end = longest_path_end(all), .out = out};
    replay.recorded = recorded_costs_of(all);
    replay.runners = memory_alloc(all->n_threads, sizeof *replay.runners);
    replay.is_done = memory_alloc(all->n_steps, sizeof *replay.is_done);
    replay.is_taken = memory_alloc(all->n_steps, sizeof *replay.is_taken);
    replay.instead = memory_alloc(all->n_steps, sizeof *replay.instead);
    replay.sleepers = memory_alloc(all->n_steps, sizeof *replay.sleepers);
    for (size_t i = 0; i < all->n_steps; i++)
        replay.instead[i] = replay.sleepers[i] = NONE;
    heap_init(&replay.clock, all->n_threads);
    heap_init(&replay.queue, all->n_threads);
    int most = (int)all->n_threads;               /* more make no difference */
    int own = all->has_cores ? all->cores : most; /* where it is not known who had one */
    int wanted = change->cores > 0 ? change->cores : own;
    replay_cores_begin(&replay, wanted < most ? wanted : most);
    replay_objects_begin(&replay);
    return replay;
}

static void end(struct replay_state *replay) {
    recorded_costs_free(&replay->recorded);
    heap_free(&replay->clock);
    heap_free(&replay->queue);
    free(replay->runners);
    free(replay->objects);
    free(replay->is_done);
    free(replay->is_taken);
    free(replay->instead);
    free(replay->sleepers);
    free(replay->running);
}

static struct replayed replay_steps(const struct dependencies *all,
                                    const struct replay_change *change) {
    struct replayed out = {.waited_ns = memory_alloc(all->n_objects + 1, sizeof(double))};
    struct replay_state replay = begin(all, change, &out);
    uint64_t start_ns = longest_path_start(all);
    for (uint32_t t = 0; t < all->n_threads; t++)
        begin_runner(&replay, t, start_ns);
    while (!replay.is_over) {
        if (is_stuck(&replay)) {
            if (!force(&replay))
                break;
            continue;
        }
        const struct heap_entry next = *heap_first(&replay.clock);
        heap_remove(&replay.clock, next.id);
        replay.now_ns = fmax(replay.now_ns, next.key);
        happen(&replay, &replay.runners[next.id]);
    }
    out.end_ns = replay.now_ns;
    end(&replay);
    return out;
}

struct replayed replay(const struct dependencies *all, const struct replay_change *change) {
    if (!change->without_pools)
        return replay_steps(all, change);
    struct dependencies plain = without_pools(all);
    struct replayed out = replay_steps(&plain, change);
    free(plain.steps);
    return out;
}

void replayed_free(struct replayed *replayed) {
    free(replayed->waited_ns);
}
