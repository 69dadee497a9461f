#include "simulator/meetings.h"

#include <math.h>

#include "simulator/condition.h"
#include "simulator/cpu.h"
#include "simulator/wait_account.h"
#include "simulator/wait_list.h"
#include "simulator/waiting.h"
#include "simulator/waking.h"

/* Completes the wait of as many as the thread wants to. */
static enum progress grant_wanted(struct engine *engine, struct thread *thread,
                                  struct shared *object) {
    const struct wait_list *list = &object->waiters[SIDE_TAKERS];
    for (; list->head && thread->wanted > 0; thread->wanted--) {
        if (!condition_admits(engine, thread, object, SIDE_TAKERS))
            return PROGRESS_WAITS;
        wait_grant(engine, thread, list->head);
    }
    return PROGRESS_YES;
}

enum progress flag_wait(struct engine *engine, struct thread *thread, struct shared *object) {
    wait_open(engine, thread, object);
    if (!object->is_signalled)
        return wait_for(engine, thread, object, SIDE_TAKERS, PHASE_GRANTED);
    shared_touch(engine, object);
    object->is_signalled = false;
    return PROGRESS_YES;
}

/* One signal is remembered, not a number of them: programs signal conditions freely, whether
 * someone waits or not, and a waiter then looks at its predicate once. */
enum progress flag_signal(struct engine *engine, struct thread *thread, struct shared *object) {
    shared_touch(engine, object);
    if (thread->phase != PHASE_SIGNAL) {
        thread->wanted = random_round(&thread->random, engine->plan->nodes[thread->node].count);
        object->is_signalled |= object->waiters[SIDE_TAKERS].n == 0;
    }
    return grant_wanted(engine, thread, object);
}

enum progress barrier_wait(struct engine *engine, struct thread *thread, struct shared *object) {
    if (thread->phase == PHASE_SIGNAL)
        return grant_wanted(engine, thread, object);
    wait_open(engine, thread, object);
    if (++object->arrived < object->amount)
        return wait_for(engine, thread, object, SIDE_TAKERS, PHASE_GRANTED);
    shared_touch(engine, object);
    object->arrived = 0;
    thread->wanted = INFINITY;
    return grant_wanted(engine, thread, object);
}

/* Threads that wait awake burn CPU: those that have done their part, until the last one has; and
 * all but who creates them, until they are created again, in this pool or another one. */
static void begin_round(struct engine *engine, int pool) {
    int rested = engine->resting_pool;
    if (rested != PLAN_NONE)
        engine->awake[rested].spun_ns +=
            (engine->now_ns - engine->resting_since_ns) * (engine->plan->pools[rested].threads - 1);
    engine->resting_pool = PLAN_NONE;
    engine->awake[pool].left_ns = 0;
}

static void leave_round(struct engine *engine, int pool) {
    struct awake_pool *awake = &engine->awake[pool];
    awake->left_ns += engine->now_ns;
    if (engine->alive[pool] > 0)
        return;
    awake->spun_ns += engine->now_ns * engine->plan->pools[pool].threads - awake->left_ns;
    engine->resting_pool = pool;
    engine->resting_since_ns = engine->now_ns;
}

/* A thread of a pool that is created anew in every round starts over; its time in each state adds
 * up over its lives. */
static void revive(struct engine *engine, struct thread *thread) {
    thread->state = THREAD_UNBORN;
    thread->node = engine->plan->pools[thread->pool].entry;
    thread->phase = PHASE_ARRIVE;
    thread->clock_ns = thread->birth_ns = NAN;
    thread->task = TASK_NONE;
    if (!engine->plan->pools[thread->pool].is_kept)
        thread->last_core = thread->recent_core = PLAN_NONE; /* to the kernel, it is a new one */
    for (int i = 0; i < engine->plan->n_runs; i++)
        thread->runs[i] = (struct edge_run){.choice = PLAN_NONE};
    engine->alive[thread->pool]++;
}

static struct thread *resting_thread(const struct engine *engine, int pool) {
    const struct plan_pool *planned = &engine->plan->pools[pool];
    for (int i = 0; i < planned->threads; i++) {
        struct thread *thread = &engine->threads[planned->first_thread + i];
        if (thread->state == THREAD_UNBORN || thread->state == THREAD_ENDED)
            return thread;
    }
    return NULL;
}

/* The creator's task becomes the new thread's. Where as many live as may, one has to end first. */
static enum progress create_for_task(struct engine *engine, struct thread *creator, int pool) {
    struct thread *created = resting_thread(engine, pool);
    if (!created) {
        wait_list_append(&engine->joiners[pool], creator);
        cpu_block(engine, creator);
        return PROGRESS_WAITS;
    }
    if (created->state == THREAD_ENDED)
        revive(engine, created);
    created->birth_ns = creator->birth_ns;
    created->client = creator->client;
    created->task = creator->task;
    created->item_kind = creator->item_kind;
    creator->birth_ns = NAN;
    creator->client = PLAN_NONE;
    creator->task = TASK_NONE;
    cpu_wake(engine, created, creator);
    return PROGRESS_YES;
}

enum progress pool_create(struct engine *engine, struct thread *thread, int pool) {
    const struct plan_pool *planned = &engine->plan->pools[pool];
    if (planned->per_task)
        return create_for_task(engine, thread, pool);
    begin_round(engine, pool);
    for (int i = 0; i < planned->threads; i++) {
        struct thread *created = &engine->threads[planned->first_thread + i];
        if (created->state == THREAD_ENDED)
            revive(engine, created);
        if (created->state != THREAD_UNBORN)
            continue;
        created->creator = planned->with_creator && i == 0 ? thread : NULL;
        created->is_awake = planned->awake;
        created->debt_ns += planned->sleep_ns; /* since its last life */
        cpu_wake(engine, created, thread);
    }
    return PROGRESS_YES;
}

enum progress pool_join(struct engine *engine, struct thread *thread, int pool) {
    if (engine->alive[pool] == 0)
        return PROGRESS_YES;
    thread->phase = PHASE_GRANTED;
    wait_list_append(&engine->joiners[pool], thread);
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}

enum progress pool_leave(struct engine *engine, struct thread *thread) {
    if (engine->plan->pools[thread->pool].at_start)
        engine->alive_at_start--;
    engine->alive[thread->pool]--;
    if (engine->plan->pools[thread->pool].awake)
        leave_round(engine, thread->pool);
    struct wait_list *joiners = &engine->joiners[thread->pool];
    if (engine->plan->pools[thread->pool].per_task && joiners->head)
        wait_wake(engine, NULL, joiners->head);
    if (engine->alive[thread->pool] == 0) {
        for (struct thread *waits = joiners->head; waits; waits = waits->next)
            waits->is_awake = engine->plan->pools[thread->pool].awake;
        while (joiners->head)
            wait_grant(engine, NULL, joiners->head);
    }
    cpu_end(engine, thread);
    return PROGRESS_ENDED;
}
