#include "critical-path/replay_objects.h"

#include <math.h>

#include "base/memory.h"

#define NONE DEPENDENCIES_NONE

static const struct runner_list nobody = {NONE, NONE};

/* How many there are of it, or for how many there is room: as it was, if nothing else is asked for.
 */
static double limit_or(const struct replay_state *replay, size_t object, double recorded) {
    const double *limits = replay->change->limits;
    return limits && !isnan(limits[object]) ? limits[object] : recorded;
}

void replay_objects_begin(struct replay_state *replay) {
    size_t n = replay->all->n_objects;
    replay->objects = memory_alloc(n, sizeof *replay->objects);
    for (size_t o = 0; o < n; o++)
        replay->objects[o] =
            (struct replay_object){.owner = NONE,
                                   .due = replay->recorded.objects[o].first_taking,
                                   .there = limit_or(replay, o, replay->all->objects[o].start),
                                   .room = INFINITY,
                                   .takers = nobody,
                                   .givers = nobody};
}

static const struct dependency_step *step_of(const struct replay_state *replay, uint32_t step) {
    return &replay->all->steps[step];
}

/* ---- lists ---- */

static void append(struct replay_state *replay, struct runner_list *list, struct runner *runner) {
    runner->next = NONE;
    if (list->tail == NONE)
        list->head = runner->id;
    else
        replay->runners[list->tail].next = runner->id;
    list->tail = runner->id;
}

/* False: it is not there. */
static bool drop(struct replay_state *replay, struct runner_list *list, uint32_t id) {
    uint32_t before = NONE, at = list->head;
    for (; at != NONE && at != id; at = replay->runners[at].next)
        before = at;
    if (at == NONE)
        return false;
    uint32_t next = replay->runners[at].next;
    if (before == NONE)
        list->head = next;
    else
        replay->runners[before].next = next;
    if (list->tail == id)
        list->tail = before;
    return true;
}

static struct runner *take_head(struct replay_state *replay, struct runner_list *list) {
    if (list->head == NONE)
        return NULL;
    struct runner *runner = &replay->runners[list->head];
    drop(replay, list, runner->id);
    return runner;
}

void replay_objects_remove(struct replay_state *replay, const struct runner *runner) {
    struct replay_object *object = &replay->objects[runner->waits_for];
    if (!drop(replay, &object->takers, runner->id))
        drop(replay, &object->givers, runner->id);
}

/* ---- in whose place ---- */

/* The step that a runner takes who comes to this one. */
static uint32_t instead_of(const struct replay_state *replay, uint32_t step) {
    while (replay->instead[step] != NONE)
        step = replay->instead[step];
    return step;
}

/* May who comes to `own` go on as who came to `due` in the run? */
static bool is_alike(const struct replay_state *replay, const struct runner *runner, uint32_t own,
                     uint32_t due) {
    const struct dependency_step *a = step_of(replay, own), *b = step_of(replay, due);
    return runner->n_held == 0 && a->place == b->place && a->place != NONE &&
           a->operation == b->operation &&
           replay->recorded.routine[a->thread] == replay->recorded.routine[b->thread];
}

/* Of a mutex that keeps its order: the step whose turn it is, if the runner may take that. */
static uint32_t turn_of(const struct replay_state *replay, const struct runner *runner) {
    uint32_t own = instead_of(replay, runner->taking);
    uint32_t due = replay->objects[step_of(replay, own)->operand].due;
    bool may = runner->is_forced || due == own || due == NONE;
    if (may)
        return own;
    return is_alike(replay, runner, own, due) ? due : NONE;
}

/* The runner has taken `step`, for which it came to `own`. */
static uint32_t note_taken(struct replay_state *replay, uint32_t own, uint32_t step) {
    struct replay_object *object = &replay->objects[step_of(replay, step)->operand];
    replay->out->taken++;
    replay->out->reordered += step != own || object->due != step;
    if (step != own)
        replay->instead[step] = own;
    replay->is_taken[step] = true;
    while (object->due != NONE && replay->is_taken[object->due])
        object->due = replay->recorded.next_taking[object->due];
    return step;
}

/* Is it on a mutex whose critical sections stay in their order? */
static bool keeps_order(const struct replay_state *replay, uint32_t step) {
    return replay->recorded.objects[step_of(replay, step)->operand].keeps_order;
}

/* ---- pools ---- */

/* Does what is there let who takes it in this step go on? */
static bool pool_lets(const struct replay_object *pool, const struct dependency_step *step,
                      double there) {
    switch ((enum step_operation)step->operation) {
    case OPERATION_PASS:
        return there >= 1 || pool->is_closed;
    case OPERATION_LEFT:
        return pool->is_closed;
    default:
        return there >= fmax(step->amount, 1);
    }
}

/* The step in whose place `own`, the first one of its lock, may take: an item goes to the worker
 * that is free. */
static uint32_t pool_step(const struct replay_state *replay, const struct runner *runner,
                          uint32_t own) {
    const struct recorded_costs *recorded = &replay->recorded;
    uint32_t operand = step_of(replay, own)->operand, due = replay->objects[operand].due;
    if (due == NONE || due == own || !recorded->objects[operand].is_shared_out ||
        recorded->lock_of[due] == NONE || recorded->pool_take[recorded->lock_of[due]] != due)
        return own;
    const struct dependency_step *a = step_of(replay, own), *b = step_of(replay, due);
    if (recorded->objects[a->object].keeps_order) /* who comes first is decided there */
        return own;
    bool is_alike = runner->n_held == 0 && a->place == b->place && a->place != NONE &&
                    a->object == b->object && a->operation != OPERATION_PASS &&
                    b->operation != OPERATION_PASS &&
                    recorded->routine[a->thread] == recorded->routine[b->thread];
    return is_alike ? due : own;
}

/* Takes from pools what is taken under the lock. Gives the step that locks: that one, or another
 * thread's in whose place it came first. NONE: it must wait for runner->pooling. */
static uint32_t take_pools(struct replay_state *replay, struct runner *runner, uint32_t lock) {
    const struct recorded_costs *recorded = &replay->recorded;
    uint32_t first = recorded->pool_take[lock];
    for (uint32_t take = first; take != NONE; take = recorded->pool_take[take]) {
        if (replay->is_taken[take])
            continue;
        uint32_t own = take;
        take = own == first ? pool_step(replay, runner, own) : own;
        const struct dependency_step *step = step_of(replay, take);
        struct replay_object *pool = &replay->objects[step->operand];
        if (!pool_lets(pool, step, pool->there) && !runner->is_forced) {
            runner->pooling = own;
            return NONE;
        }
        if (step->operation == OPERATION_TAKE)
            pool->there -= fmax(step->amount, 1);
        replay->out->taken++;
        replay->out->reordered += take != own || pool->due != take;
        replay->is_taken[take] = true;
        while (pool->due != NONE && replay->is_taken[pool->due])
            pool->due = recorded->next_taking[pool->due];
        if (take != own) {
            replay->instead[recorded->lock_of[take]] = lock;
            lock = recorded->lock_of[take];
        }
    }
    runner->pooling = NONE;
    return lock;
}

/* False: the runner must wait. */
static bool has_pools_taken(struct replay_state *replay, struct runner *runner) {
    if (!replay->recorded.pool_take || runner->has_pooled)
        return true;
    uint32_t own = instead_of(replay, runner->taking);
    if (replay->recorded.pool_take[own] == NONE)
        return true;
    uint32_t lock = take_pools(replay, runner, own);
    if (lock == NONE)
        return false;
    runner->taking = lock;
    runner->has_pooled = true;
    return true;
}

struct runner *replay_objects_next_of_pool(struct replay_state *replay, uint32_t operand,
                                           double *spare) {
    struct replay_object *pool = &replay->objects[operand];
    *spare = *spare < 0 ? pool->there : *spare;
    for (uint32_t at = pool->takers.head; at != NONE; at = replay->runners[at].next) {
        struct runner *runner = &replay->runners[at];
        const struct dependency_step *step = step_of(replay, runner->pooling);
        if (!pool_lets(pool, step, *spare))
            continue;
        *spare = fmax(*spare - (step->operation == OPERATION_TAKE ? fmax(step->amount, 1) : 0), 0);
        drop(replay, &pool->takers, at);
        return runner;
    }
    return NULL;
}

/* ---- taking ---- */

static uint32_t take_lock(struct replay_state *replay, struct runner *runner, uint32_t own,
                          struct replay_object *object, bool keeps_order) {
    if (object->owner == runner->id && !runner->has_turn) {
        object->depth++; /* again */
        return note_taken(replay, own, own);
    }
    bool is_free = object->owner == NONE && object->readers == 0;
    if (!is_free && !runner->has_turn && !runner->is_forced)
        return NONE;
    uint32_t step = keeps_order ? turn_of(replay, runner) : own;
    if (step == NONE)
        return NONE;
    object->owner = runner->id;
    object->depth = 1;
    object->is_contended |= runner->has_paid; /* others may wait beside it */
    runner->has_turn = false;
    return note_taken(replay, own, step);
}

static uint32_t take_item(struct replay_state *replay, const struct runner *runner, uint32_t own,
                          struct replay_object *object) {
    if (object->there < 1 && !runner->is_forced)
        return NONE;
    object->there--;
    bool is_work = replay->recorded.objects[step_of(replay, own)->operand].is_shared_out;
    uint32_t due = object->due;
    bool changes = is_work && due != NONE && due != own && is_alike(replay, runner, own, due);
    return note_taken(replay, own, changes ? due : own);
}

uint32_t replay_objects_take(struct replay_state *replay, struct runner *runner) {
    if (!has_pools_taken(replay, runner))
        return NONE;
    bool is_fixed = runner->has_pooled && !keeps_order(replay, runner->taking);
    uint32_t own = is_fixed ? runner->taking : instead_of(replay, runner->taking);
    const struct dependency_step *step = step_of(replay, own);
    struct replay_object *object = &replay->objects[step->operand];
    bool is_owned = object->owner != NONE && object->owner != runner->id;
    switch ((enum step_operation)step->operation) {
    case OPERATION_LOCK:
    case OPERATION_SPIN:
        return take_lock(replay, runner, own, object,
                         replay->recorded.objects[step->operand].keeps_order);
    case OPERATION_SHARE:
        if (is_owned && !runner->is_forced)
            return NONE;
        object->readers++;
        return note_taken(replay, own, own);
    case OPERATION_TAKE:
        return take_item(replay, runner, own, object);
    case OPERATION_GIVE:
        return object->there < object->room || runner->is_forced ? own : NONE;
    default:
        return own;
    }
}

bool replay_objects_waits_for_turn(const struct replay_state *replay, const struct runner *runner) {
    if (runner->pooling != NONE)
        return false;
    const struct dependency_step *step = step_of(replay, runner->taking);
    const struct replay_object *object = &replay->objects[step->operand];
    return replay->recorded.objects[step->operand].keeps_order && object->owner == NONE &&
           object->readers == 0;
}

void replay_objects_wait(struct replay_state *replay, struct runner *runner) {
    uint32_t taking = runner->pooling != NONE ? runner->pooling : runner->taking;
    const struct dependency_step *step = step_of(replay, taking);
    struct replay_object *object = &replay->objects[step->operand];
    runner->waits_for = step->operand;
    runner->waits_since_ns = replay->now_ns;
    object->is_contended = true;
    append(replay, step->operation == OPERATION_GIVE ? &object->givers : &object->takers, runner);
}

/* ---- giving ---- */

/* The one that waits and whose turn it is: first who had it in the run. */
static struct runner *find_turn(struct replay_state *replay, struct replay_object *object) {
    struct runner *found = NULL;
    for (uint32_t at = object->takers.head; at != NONE; at = replay->runners[at].next) {
        struct runner *runner = &replay->runners[at];
        uint32_t turn = turn_of(replay, runner);
        if (turn == NONE)
            continue;
        if (turn == instead_of(replay, runner->taking))
            return runner;
        found = found ? found : runner;
    }
    return found;
}

static struct runner *free_lock(struct replay_state *replay, struct replay_object *object,
                                bool keeps_order) {
    if (object->owner != NONE || object->readers > 0)
        return NULL;
    struct runner *next;
    if (keeps_order) {
        next = find_turn(replay, object);
        if (next)
            drop(replay, &object->takers, next->id);
    } else {
        next = object->is_contended ? take_head(replay, &object->takers) : NULL;
    }
    object->is_contended = false;
    if (next && keeps_order) { /* as nobody else could take it */
        object->owner = next->id;
        next->has_turn = true;
    }
    return next;
}

static struct runner *unlock(struct replay_state *replay, struct runner *runner, uint32_t operand) {
    struct replay_object *object = &replay->objects[operand];
    if (object->owner != NONE) {
        if (object->depth > 1 && object->owner == runner->id) {
            object->depth--;
            return NULL;
        }
        object->owner = NONE;
    } else if (object->readers > 0) {
        object->readers--;
    }
    return free_lock(replay, object, replay->recorded.objects[operand].keeps_order);
}

struct runner *replay_objects_give(struct replay_state *replay, struct runner *runner,
                                   uint32_t step) {
    const struct dependency_step *is = step_of(replay, step);
    if (is->operation == OPERATION_NONE)
        return NULL;
    struct replay_object *object = &replay->objects[is->operand];
    switch ((enum step_operation)is->operation) {
    case OPERATION_LOCK:
    case OPERATION_SPIN:
    case OPERATION_SHARE:
        runner->n_held++;
        return NULL;
    case OPERATION_UNLOCK:
    case OPERATION_WAIT:
        runner->n_held -= runner->n_held > 0;
        return unlock(replay, runner, is->operand);
    case OPERATION_PERMIT:
        object->there = limit_or(replay, is->operand, is->amount);
        return NULL;
    case OPERATION_BOUND:
        object->there = 0;
        object->room =
            limit_or(replay, is->operand, is->amount > 0 ? (double)is->amount : INFINITY);
        return NULL;
    case OPERATION_TAKE:
        return take_head(replay, &object->givers);
    case OPERATION_GIVE:
        object->there += fmax(is->amount, 1);
        return replay->all->objects[is->operand].is_pool ? NULL
                                                         : take_head(replay, &object->takers);
    case OPERATION_OWE:
        object->there -= is->amount;
        return NULL;
    case OPERATION_CLOSE:
        object->is_closed = true;
        return NULL;
    default:
        return NULL;
    }
}
