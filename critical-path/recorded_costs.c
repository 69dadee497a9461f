#include "critical-path/recorded_costs.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

#define NONE DEPENDENCIES_NONE

enum { MOST_COSTS = 4096 }; /* of a kind: more tell no more */

static void keep(struct costs *costs, double ns) {
    if (ns >= 0 && costs->count < MOST_COSTS)
        *VECTOR_ADD(costs) = ns;
}

double costs_next(struct costs *costs) {
    return costs->count > 0 ? costs->items[costs->next++ % costs->count] : 0;
}

double recorded_lasted(const struct recorded_costs *recorded, uint32_t step) {
    const struct dependencies *all = recorded->all;
    uint32_t before = recorded->before[step];
    uint64_t began_ns =
        before == NONE ? all->threads[all->steps[step].thread].start_ns : all->steps[before].end_ns;
    return (double)all->steps[step].end_ns - (double)began_ns;
}

bool operation_takes(enum step_operation operation) {
    return operation == OPERATION_LOCK || operation == OPERATION_SPIN ||
           operation == OPERATION_SHARE || operation == OPERATION_TAKE ||
           operation == OPERATION_PASS || operation == OPERATION_LEFT;
}

bool takes_from_pool(const struct dependencies *all, const struct dependency_step *step) {
    bool takes = step->operation == OPERATION_TAKE || step->operation == OPERATION_PASS ||
                 step->operation == OPERATION_LEFT;
    return takes && all->objects[step->operand].is_pool;
}

/* Takes no time, whatever else it does. */
static bool is_of_pool(const struct dependencies *all, uint32_t step) {
    const struct dependency_step *is = &all->steps[step];
    return is->operation != OPERATION_NONE && all->objects[is->operand].is_pool;
}

uint32_t recorded_behind_pools(const struct recorded_costs *recorded, uint32_t step) {
    uint32_t after = recorded->after[step];
    while (after != NONE && is_of_pool(recorded->all, after))
        after = recorded->after[after];
    return after;
}

/* ---- single waits ---- */

static bool is_wait(const struct dependency_step *step) {
    return step->kind != STEP_COMPUTE && step->kind != STEP_READY;
}

double recorded_coming_back(const struct recorded_costs *recorded, uint32_t step) {
    const struct dependency_step *steps = recorded->all->steps;
    const struct dependency_step *wait = &steps[step];
    uint32_t next = recorded->after[step];
    double told_ns = wait->cause == NONE ? 0 : (double)(wait->end_ns - steps[wait->cause].end_ns);
    bool was_ready = next != NONE && steps[next].kind == STEP_READY;
    return told_ns + (was_ready ? (double)recorded->kept_ns[next] : 0);
}

/* The last step in [from, to] that waits for something else than `operand`. */
static uint32_t last_other_wait(const struct recorded_costs *recorded, uint32_t from, uint32_t to,
                                uint32_t operand) {
    uint32_t last = NONE;
    for (uint32_t s = from; s != NONE && s <= to; s = recorded->after[s]) {
        const struct dependency_step *step = &recorded->all->steps[s];
        if (is_wait(step) && step->object != operand)
            last = s;
    }
    return last;
}

/* What the steps in [from, call->done] tell of waiting for the operand. */
static void measure_wait(const struct recorded_costs *recorded, uint32_t from,
                         struct taking_call *call) {
    bool has_waited = false;
    for (uint32_t s = from; s != NONE && s <= call->done; s = recorded->after[s]) {
        const struct dependency_step *step = &recorded->all->steps[s];
        if (is_wait(step)) {
            has_waited = true;
            call->back_ns = recorded_coming_back(recorded, s);
            call->after_ns = 0;
        } else if (step->kind == STEP_COMPUTE) {
            double *cost = has_waited ? &call->after_ns : &call->before_ns;
            *cost += recorded_lasted(recorded, s);
        }
    }
    call->waits = has_waited ? from : NONE;
}

struct taking_call recorded_call(const struct recorded_costs *recorded, uint32_t step) {
    const struct dependency_step *steps = recorded->all->steps;
    struct taking_call call = {.done = NONE, .waits = NONE, .back_ns = -1};
    uint32_t s = step;
    while (s != NONE && steps[s].in_call && steps[s].operation == OPERATION_NONE)
        s = recorded->after[s];
    bool takes = s != NONE && steps[s].in_call &&
                 (operation_takes(steps[s].operation) || steps[s].operation == OPERATION_GIVE);
    if (!takes)
        return call;
    call.done = s;
    uint32_t other = last_other_wait(recorded, step, s, steps[s].operand);
    uint32_t from = other == NONE ? step : recorded->after[other];
    if (from != NONE && from < s && steps[from].kind == STEP_READY)
        from = recorded->after[from];
    if (from != NONE && from <= s)
        measure_wait(recorded, from, &call);
    return call;
}

struct taking_call recorded_pool_wait(const struct recorded_costs *recorded, uint32_t step) {
    const struct dependency_step *steps = recorded->all->steps;
    struct taking_call call = {.done = step, .waits = NONE, .back_ns = -1};
    bool is_paused = false;
    for (uint32_t s = recorded->lock_of[step]; s != NONE && s < step; s = recorded->after[s]) {
        if (is_paused && is_wait(&steps[s])) {
            call.waits = s;
            call.back_ns = recorded_coming_back(recorded, s);
            call.after_ns = 0;
        } else if (is_paused && steps[s].kind == STEP_COMPUTE) {
            double *cost = call.waits == NONE ? &call.before_ns : &call.after_ns;
            *cost += recorded_lasted(recorded, s);
        }
        is_paused |= steps[s].operation == OPERATION_PAUSE;
        is_paused &= steps[s].operation != OPERATION_RESUME;
    }
    return call;
}

/* ---- who comes next ---- */

static void link_threads(struct recorded_costs *recorded) {
    const struct dependencies *all = recorded->all;
    uint32_t *last = memory_alloc(all->n_threads, sizeof *last);
    for (size_t t = 0; t < all->n_threads; t++)
        last[t] = recorded->first[t] = NONE;
    for (uint32_t i = 0; i < all->n_steps; i++) {
        uint32_t thread = all->steps[i].thread;
        recorded->before[i] = last[thread];
        recorded->after[i] = NONE;
        if (last[thread] == NONE)
            recorded->first[thread] = i;
        else
            recorded->after[last[thread]] = i;
        last[thread] = i;
    }
    free(last);
}

/* ---- cores that the program did not use ---- */

/* How many threads are on cores and how many ready, and for how long each of the latter was kept
 * from a core that the program did not use. */
struct sweep {
    const struct recorded_costs *recorded;
    uint64_t now_ns;
    int running, ready;
    double kept_ns;
    double *since_ns; /* per thread: `kept_ns` when its present step began */
};

static void pass_to(struct sweep *sweep, uint64_t to_ns) {
    if (to_ns <= sweep->now_ns)
        return;
    int unused = sweep->recorded->all->cores - sweep->running;
    if (sweep->ready > 0 && unused > 0)
        sweep->kept_ns += (double)(to_ns - sweep->now_ns) * fmin(1, (double)unused / sweep->ready);
    sweep->now_ns = to_ns;
}

static void count_step(struct sweep *sweep, uint32_t step, int by) {
    if (step == NONE)
        return;
    const struct dependency_step *is = &sweep->recorded->all->steps[step];
    bool spins = is->operation == OPERATION_SPIN && is->kind != STEP_READY;
    sweep->running += is->kind == STEP_COMPUTE || spins ? by : 0;
    sweep->ready += is->kind == STEP_READY ? by : 0;
    sweep->since_ns[is->thread] = sweep->kept_ns;
}

struct birth {
    uint64_t at_ns;
    uint32_t first; /* step */
};

static int compare_births(const void *left, const void *right) {
    const struct birth *a = left, *b = right;
    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

static struct birth *births_of(const struct recorded_costs *recorded) {
    const struct dependencies *all = recorded->all;
    struct birth *births = memory_alloc(all->n_threads, sizeof *births);
    for (size_t t = 0; t < all->n_threads; t++)
        births[t] = (struct birth){all->threads[t].start_ns, recorded->first[t]};
    qsort(births, all->n_threads, sizeof *births, compare_births);
    return births;
}

static void measure_unused_cores(struct recorded_costs *recorded) {
    const struct dependencies *all = recorded->all;
    struct birth *births = births_of(recorded);
    struct sweep sweep = {.recorded = recorded};
    sweep.since_ns = memory_alloc(all->n_threads, sizeof *sweep.since_ns);
    size_t born = 0;
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        for (; born < all->n_threads && births[born].at_ns <= step->end_ns; born++) {
            pass_to(&sweep, births[born].at_ns);
            count_step(&sweep, births[born].first, 1);
        }
        pass_to(&sweep, step->end_ns);
        if (step->kind == STEP_READY)
            recorded->kept_ns[i] = (float)(sweep.kept_ns - sweep.since_ns[step->thread]);
        count_step(&sweep, i, -1);
        count_step(&sweep, recorded->after[i], 1);
    }
    free(births);
    free(sweep.since_ns);
}

/* ---- the whole run ---- */

static void number_routines(struct recorded_costs *recorded) {
    struct map seen = MAP_EMPTY;
    for (uint32_t t = 0; t < recorded->all->n_threads; t++) {
        uint64_t key = map_mix_text(1, recorded->all->threads[t].name);
        recorded->routine[t] = (uint32_t)map_get(&seen, key, (int)t);
        map_put(&seen, key, (int)recorded->routine[t]);
    }
    map_free(&seen);
}

static void link_operations(struct recorded_costs *recorded) {
    const struct dependencies *all = recorded->all;
    uint32_t *last = memory_alloc(all->n_objects, sizeof *last);
    struct map roles = MAP_EMPTY; /* of a thread with an object: 1 takes, 2 gives */
    for (size_t o = 0; o < all->n_objects; o++) {
        recorded->objects[o] =
            (struct recorded_object){.first_taking = NONE, .is_shared_out = true};
        last[o] = NONE;
    }
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        recorded->next_taking[i] = NONE;
        if (step->operation == OPERATION_NONE)
            continue;
        struct recorded_object *object = &recorded->objects[step->operand];
        object->keeps_order |= step->operation == OPERATION_WAIT;
        object->is_signalled |= step->operation == OPERATION_SIGNAL;
        object->is_explained |= step->operation == OPERATION_PAUSE;
        if (takes_from_pool(all, step) && step->object != NONE)
            recorded->objects[step->object].is_explained = true;
        if (step->operation == OPERATION_TAKE || step->operation == OPERATION_GIVE) {
            uint64_t key = (uint64_t)step->operand << 32 | step->thread;
            int role = map_get(&roles, key, 0) | (step->operation == OPERATION_TAKE ? 1 : 2);
            map_put(&roles, key, role);
            object->is_shared_out &= role != 3;
        }
        if (!operation_takes(step->operation))
            continue;
        uint32_t *link = last[step->operand] == NONE ? &object->first_taking
                                                     : &recorded->next_taking[last[step->operand]];
        *link = last[step->operand] = i;
    }
    /* Who signals means that others may wait. Why, nothing tells where nobody did. */
    for (size_t o = 0; o < all->n_objects; o++)
        recorded->objects[o].keeps_order |=
            recorded->objects[o].is_signalled && !recorded->objects[o].is_explained;
    map_free(&roles);
    free(last);
}

static bool has_pools(const struct dependencies *all) {
    for (size_t o = 0; o < all->n_objects; o++)
        if (all->objects[o].is_pool)
            return true;
    return false;
}

/* What is taken from pools under which lock: the step in which that was locked last. */
static void link_pools(struct recorded_costs *recorded) {
    const struct dependencies *all = recorded->all;
    if (!has_pools(all))
        return;
    struct map locks = MAP_EMPTY; /* of a thread and a lock -> 1 + the last step of the chain */
    recorded->pool_take = memory_alloc(all->n_steps, sizeof *recorded->pool_take);
    recorded->lock_of = memory_alloc(all->n_steps, sizeof *recorded->lock_of);
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        recorded->pool_take[i] = recorded->lock_of[i] = NONE;
        if (step->operation == OPERATION_LOCK) {
            map_put(&locks, (uint64_t)step->thread << 32 | step->operand, (int)i + 1);
        } else if (takes_from_pool(all, step) && step->object != NONE) {
            uint64_t key = (uint64_t)step->thread << 32 | step->object;
            int last = map_get(&locks, key, 0);
            if (last == 0)
                continue;
            bool is_first = all->steps[last - 1].operation == OPERATION_LOCK;
            recorded->lock_of[i] = is_first ? (uint32_t)last - 1 : recorded->lock_of[last - 1];
            recorded->pool_take[last - 1] = i;
            map_put(&locks, key, (int)i + 1);
        }
    }
    map_free(&locks);
}

/* Who gives something back and wakes who waits for it computes for that: until then, at least. */
static void find_wakers(struct recorded_costs *recorded) {
    const struct dependency_step *steps = recorded->all->steps;
    for (uint32_t i = 0; i < recorded->all->n_steps; i++) {
        uint32_t cause = steps[i].cause;
        bool by_call = steps[i].cause_kind == LINK_LOCK || steps[i].cause_kind == LINK_PERMIT ||
                       steps[i].cause_kind == LINK_ITEM || steps[i].cause_kind == LINK_SPACE;
        if (cause == NONE || !by_call || recorded->wakes[cause])
            continue;
        uint32_t given = recorded->before[cause];
        while (given != NONE && is_of_pool(recorded->all, given))
            given = recorded->before[given];
        enum step_operation operation =
            given == NONE ? OPERATION_NONE : (enum step_operation)steps[given].operation;
        bool gives = operation == OPERATION_UNLOCK || operation == OPERATION_WAIT ||
                     operation == OPERATION_GIVE;
        if (!gives || steps[cause].kind != STEP_COMPUTE || steps[cause].operation != OPERATION_NONE)
            continue;
        recorded->wakes[cause] = true;
        keep(&recorded->waking, recorded_lasted(recorded, cause));
    }
}

/* ---- what waking costs behind the moment in which the other one is ready ---- */

/* Computing behind an unlock up to the next call, of one place. */
struct behind {
    double n[2], mean_ns[2], squares[2]; /* where it woke nobody, where it did */
};

static void add_behind(struct behind *behind, bool woke, double ns) {
    double off_ns = ns - behind->mean_ns[woke];
    behind->n[woke]++;
    behind->mean_ns[woke] += off_ns / behind->n[woke];
    behind->squares[woke] += off_ns * (ns - behind->mean_ns[woke]);
}

static struct behind *behind_unlocks(const struct recorded_costs *recorded) {
    const struct dependencies *all = recorded->all;
    struct behind *behind = memory_alloc(all->n_places, sizeof *behind);
    for (uint32_t i = 0; i < all->n_steps; i++) {
        const struct dependency_step *step = &all->steps[i];
        uint32_t before = recorded->before[i];
        bool is_whole = step->kind == STEP_COMPUTE && step->operation != OPERATION_NONE &&
                        step->place != NONE && before != NONE;
        if (is_whole &&
            (recorded->wakes[before] || all->steps[before].operation == OPERATION_UNLOCK))
            add_behind(&behind[step->place], recorded->wakes[before], recorded_lasted(recorded, i));
    }
    return behind;
}

/* By how much longer threads compute behind an unlock that woke another one: the mean over the
 * places, each as much as it is sure. */
static double find_behind_waking(const struct recorded_costs *recorded) {
    struct behind *behind = behind_unlocks(recorded);
    double sum_ns = 0, weights = 0;
    for (size_t p = 0; p < recorded->all->n_places; p++) {
        const struct behind *at = &behind[p];
        if (at->n[0] < 2 || at->n[1] < 2)
            continue;
        double variance = 0;
        for (int woke = 0; woke < 2; woke++)
            variance += at->squares[woke] / (at->n[woke] - 1) / at->n[woke];
        double weight = 1 / fmax(variance, 1); /* clocks tell no less than a nanosecond */
        sum_ns += weight * (at->mean_ns[1] - at->mean_ns[0]);
        weights += weight;
    }
    free(behind);
    return weights > 0 ? fmax(sum_ns / weights, 0) : 0;
}

static void collect_costs(struct recorded_costs *recorded) {
    const struct dependency_step *steps = recorded->all->steps;
    for (uint32_t i = 0; i < recorded->all->n_steps; i++) {
        uint32_t before = recorded->before[i];
        if (is_wait(&steps[i]) && !recorded->all->threads[steps[i].thread].is_made)
            keep(&recorded->coming_back, recorded_coming_back(recorded, i));
        if (!steps[i].in_call || (before != NONE && steps[before].in_call))
            continue;
        struct taking_call call = recorded_call(recorded, i);
        if (call.waits != NONE) {
            keep(&recorded->before_wait, call.before_ns);
            keep(&recorded->after_wait, call.after_ns);
        }
    }
}

struct recorded_costs recorded_costs_of(const struct dependencies *all) {
    struct recorded_costs recorded = {.all = all};
    recorded.before = memory_alloc(all->n_steps, sizeof *recorded.before);
    recorded.after = memory_alloc(all->n_steps, sizeof *recorded.after);
    recorded.next_taking = memory_alloc(all->n_steps, sizeof *recorded.next_taking);
    recorded.wakes = memory_alloc(all->n_steps, sizeof *recorded.wakes);
    recorded.kept_ns = memory_alloc(all->n_steps, sizeof *recorded.kept_ns);
    recorded.first = memory_alloc(all->n_threads, sizeof *recorded.first);
    recorded.routine = memory_alloc(all->n_threads, sizeof *recorded.routine);
    recorded.objects = memory_alloc(all->n_objects, sizeof *recorded.objects);
    link_threads(&recorded);
    number_routines(&recorded);
    measure_unused_cores(&recorded);
    link_operations(&recorded);
    link_pools(&recorded);
    find_wakers(&recorded);
    recorded.behind_waking_ns = find_behind_waking(&recorded);
    collect_costs(&recorded);
    return recorded;
}

void recorded_costs_free(struct recorded_costs *recorded) {
    free(recorded->before);
    free(recorded->after);
    free(recorded->next_taking);
    free(recorded->pool_take);
    free(recorded->lock_of);
    free(recorded->wakes);
    free(recorded->first);
    free(recorded->routine);
    free(recorded->objects);
    free(recorded->kept_ns);
    free(recorded->coming_back.items);
    free(recorded->waking.items);
    free(recorded->before_wait.items);
    free(recorded->after_wait.items);
}
