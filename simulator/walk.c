#include "simulator/walk.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "simulator/condition.h"
#include "simulator/cpu.h"
#include "simulator/disk.h"
#include "simulator/draws.h"
#include "simulator/links.h"
#include "simulator/locks.h"
#include "simulator/meetings.h"
#include "simulator/monitors.h"
#include "simulator/mutexes.h"
#include "simulator/orders.h"
#include "simulator/stores.h"
#include "simulator/wait_account.h"

#define MAX_RUN_CHOICES        1000 /* before a run that keeps being drawn as 0 long is taken once */
#define MAX_EVENTS_PER_INSTANT 1e7

static enum progress end_task(struct engine *engine, struct thread *thread) {
    const struct message reply = {
        .birth_ns = thread->birth_ns, .queue = thread->queue, .client = thread->client};
    thread->birth_ns = NAN;
    thread->client = thread->queue = PLAN_NONE;
    thread->task = TASK_NONE;
    if (reply.queue != PLAN_NONE && reply.client == PLAN_NONE)
        queue_task_done(engine, reply.queue);
    if (reply.queue != PLAN_NONE && engine->plan->objects[reply.queue].goes_by != MODEL_NONE)
        link_send_reply(engine, &reply);
    else
        task_answered(engine, reply.birth_ns, reply.client);
    return PROGRESS_YES;
}

static enum progress begin_task(struct engine *engine, struct thread *thread) {
    thread->birth_ns = engine->now_ns;
    thread->task = TASK_NONE;
    return PROGRESS_YES;
}

/* See orders.h. */
static void walk_leader(struct engine *engine) {
    struct thread *leader = engine->kernel_leader;
    engine->kernel_leader = NULL;
    if (leader)
        walk_asleep(engine, leader);
}

static enum progress end_thread(struct engine *engine, struct thread *thread) {
    for (int i = 0; i < engine->plan->n_objects; i++)
        if (engine->objects[i].kind == OBJECT_ORDER) {
            order_leave(engine, thread, &engine->objects[i]);
            walk_leader(engine);
        }
    return pool_leave(engine, thread);
}

static enum progress operate(struct engine *engine, struct thread *thread,
                             const struct plan_node *node) {
    struct shared *object = node->object == MODEL_NONE ? NULL : &engine->objects[node->object];
    switch (node->kind) {
    case NODE_START:
    case NODE_STEP:
        return PROGRESS_YES;
    case NODE_END:
        return end_thread(engine, thread);
    case NODE_LOCK:
        return lock_take(engine, thread, object);
    case NODE_UNLOCK:
        return lock_release(engine, thread, object);
    case NODE_RDLOCK:
        return rwlock_read(engine, thread, object);
    case NODE_WRLOCK:
        return rwlock_write(engine, thread, object);
    case NODE_RWUNLOCK:
        return rwlock_release(engine, thread, object);
    case NODE_ACQUIRE:
        return tokens_acquire(engine, thread, object);
    case NODE_RELEASE:
        return tokens_release(engine, thread, object);
    case NODE_PUT:
        return queue_put(engine, thread, object);
    case NODE_GET:
        return queue_get(engine, thread, object);
    case NODE_CLOSE:
        return store_close(engine, thread, object);
    case NODE_WAIT:
        return flag_wait(engine, thread, object);
    case NODE_SIGNAL:
        return flag_signal(engine, thread, object);
    case NODE_BARRIER:
        return barrier_wait(engine, thread, object);
    case NODE_DRAW:
        return order_draw(engine, thread, object);
    case NODE_TURN:
        return order_turn(engine, thread, object);
    case NODE_ADVANCE:
        return order_advance(engine, thread, object);
    case NODE_PASS:
        return order_pass(engine, thread, object);
    case NODE_COLLECT:
        return order_collect(engine, thread, object);
    case NODE_STATEMENTS:
        return monitor_execute(engine, thread, object);
    case NODE_CREATE:
        return pool_create(engine, thread, node->target_pool);
    case NODE_JOIN:
        return pool_join(engine, thread, node->target_pool);
    case NODE_SLEEP:
        return pause_thread(engine, thread);
    case NODE_IO:
        return object ? disk_access(engine, thread, object) : pause_thread(engine, thread);
    case NODE_TASK_BEGIN:
        return begin_task(engine, thread);
    case NODE_TASK_END:
        return end_task(engine, thread);
    }
    return PROGRESS_YES;
}

/* What remains of choice `i` in the thread's deck, or its weight where there is no deck. */
static double weight_of(const struct engine *engine, const struct plan_choice *choices,
                        const struct plan_group *group, int i) {
    return group->deck == PLAN_NONE ? choices[i].weight : engine->cards[group->deck + i];
}

static double sum_weights(const struct engine *engine, const struct plan_choice *choices,
                          const struct plan_group *group, int except) {
    double total = 0;
    for (int i = 0; i < group->n; i++)
        if (i != except)
            total += weight_of(engine, choices, group, i);
    return total;
}

/* The choice that makes up more than half of what remains of the deck: unless it comes now, it is
 * left over when the others are used up, since none comes twice in a row. PLAN_NONE: there is none.
 */
static int due_choice(const struct engine *engine, const struct plan_choice *choices,
                      const struct plan_group *group, int except) {
    if (group->deck == PLAN_NONE || except == PLAN_NONE)
        return PLAN_NONE;
    double total = sum_weights(engine, choices, group, PLAN_NONE);
    for (int i = 0; i < group->n; i++)
        if (i != except && 2 * weight_of(engine, choices, group, i) > total)
            return i;
    return PLAN_NONE;
}

static void fill_deck(struct engine *engine, const struct plan_choice *choices,
                      const struct plan_group *group) {
    for (int i = 0; i < group->n; i++)
        engine->cards[group->deck + i] += choices[i].weight;
}

/* Draws a choice of the group by weight, leaving out number `except` if there is another; those
 * that remain without any weight are equally likely. */
static int draw_choice(struct engine *engine, const struct plan_choice *choices,
                       const struct plan_group *group, int except, struct thread *thread) {
    if (group->n == 1)
        return 0;
    double total = sum_weights(engine, choices, group, except);
    bool dealt = total <= 0 && group->deck != PLAN_NONE;
    if (dealt && group->counted && except != PLAN_NONE &&
        weight_of(engine, choices, group, except) > 0) {
        engine->cards[group->deck + except]--; /* other threads have got all others */
        return except;
    }
    if (dealt) {
        fill_deck(engine, choices, group);
        total = sum_weights(engine, choices, group, except);
    }
    int due = due_choice(engine, choices, group, except);
    if (due != PLAN_NONE) {
        engine->cards[group->deck + due]--;
        return due;
    }
    bool is_equal = total <= 1e-12 * group->weight;
    if (is_equal)
        total = group->n - (except != PLAN_NONE);
    double rest = random_unit(&thread->random) * total;
    int chosen = PLAN_NONE;
    for (int i = 0; i < group->n; i++) {
        double weight = is_equal ? 1 : weight_of(engine, choices, group, i);
        if (i == except || weight <= 0)
            continue;
        chosen = i;
        rest -= weight;
        if (rest < 0)
            break;
    }
    if (group->deck != PLAN_NONE && engine->cards[group->deck + chosen] > 0)
        engine->cards[group->deck + chosen]--;
    return chosen;
}

static double scale(const struct plan_factor *by, const struct thread *thread, double value) {
    double factor = by->whole;
    if (by->rest != REST_NONE)
        factor += by->per_item * partition_part(by->rest, by->total, by->threads,
                                                (int)thread->id - by->first_thread);
    double scaled = (value + by->less) * factor - by->less;
    return scaled > 0 ? scaled : 0;
}

/* Its computation for this thread. */
static double demand_of(struct engine *engine, const struct thread *thread,
                        const struct plan_edge *edge, double drawn) {
    double demand = scale(&edge->cpu_factor, thread, drawn);
    if (edge->n_cpu_by_place == 0)
        return demand;
    const struct plan_pool *pool = &engine->plan->pools[thread->pool];
    return demand * partition_weight(edge->cpu_by_place, edge->n_cpu_by_place, pool->threads,
                                     (int)thread->id - pool->first_thread);
}

/* How often a newly chosen edge is taken in a row; edges without `runs` once. */
static double draw_run(struct engine *engine, struct thread *thread, const struct plan_edge *edge) {
    if (edge->runs == PLAN_NONE)
        return 1;
    double value =
        scale(&edge->runs_factor, thread, draws_one(engine, edge->runs, &thread->random));
    return random_round(&thread->random, value);
}

static int draw_first_choice(struct engine *engine, const struct plan_choice *choices,
                             const struct plan_group *group, struct thread *thread) {
    double rest = random_unit(&thread->random) * group->first_weight;
    int chosen = 0;
    for (int i = 0; i < group->n && rest >= 0; i++) {
        if (choices[i].first_weight > 0)
            chosen = i;
        rest -= choices[i].first_weight;
    }
    if (group->deck == PLAN_NONE)
        return chosen;
    if (sum_weights(engine, choices, group, PLAN_NONE) <= 0)
        fill_deck(engine, choices, group); /* it is one of those that were counted */
    if (engine->cards[group->deck + chosen] > 0)
        engine->cards[group->deck + chosen]--;
    return chosen;
}

/* The choice that the thread's run at this group dictates, and one taken off the run. */
static int follow_run(struct engine *engine, struct thread *thread,
                      const struct plan_group *group) {
    struct edge_run *run = &thread->runs[group->run];
    const struct plan_choice *choices = &engine->plan->choices[group->first];
    for (int i = 0; run->left < 1; i++) {
        bool is_first = run->choice == PLAN_NONE && group->first_weight > 0;
        run->choice = is_first ? draw_first_choice(engine, choices, group, thread)
                               : draw_choice(engine, choices, group, run->choice, thread);
        run->left = draw_run(engine, thread, &engine->plan->edges[choices[run->choice].edge]);
        if (run->left < 1 && (group->n == 1 || i == MAX_RUN_CHOICES))
            run->left = 1;
    }
    run->left--;
    return run->choice;
}

/* Has the thread gone round as often as it was to? Then the loop starts afresh next time. */
static bool must_leave(struct engine *engine, struct thread *thread, const struct plan_node *node,
                       const struct plan_group *group) {
    struct edge_run *stay = &thread->runs[group->stay];
    if (stay->choice == PLAN_NONE) {
        double value =
            scale(&node->stays_factor, thread, draws_one(engine, node->stays, &thread->random));
        *stay = (struct edge_run){.choice = 0, .left = random_round(&thread->random, value)};
    }
    if (group->n > 0 && stay->left >= 1) {
        stay->left--;
        return false;
    }
    stay->choice = PLAN_NONE;
    if (group->run != PLAN_NONE)
        thread->runs[group->run] = (struct edge_run){.choice = PLAN_NONE};
    return true;
}

static int draw_leaving(const struct plan_choice *choices, const struct plan_group *group,
                        struct thread *thread) {
    double total = 0;
    for (int i = 0; i < group->n_leaving; i++)
        total += choices[group->n + i].weight;
    double rest = random_unit(&thread->random) * total;
    int chosen = 0;
    while (chosen + 1 < group->n_leaving && (rest -= choices[group->n + chosen].weight) >= 0)
        chosen++;
    return group->n + chosen;
}

/* Is the thread the one of this round? A pool that is created again begins a new one. */
static bool is_taker(struct engine *engine, const struct thread *thread, enum taker taker) {
    const struct plan_pool *pool = &engine->plan->pools[thread->pool];
    int *comers = &engine->comers[thread->node];
    bool is_first = *comers == 0, is_last = ++*comers >= pool->threads;
    if (is_last)
        *comers = 0;
    return taker == TAKER_FIRST  ? is_first
           : taker == TAKER_LAST ? is_last
                                 : (int)thread->id == pool->first_thread;
}

/* Where an item of that kind leads; PLAN_NONE: nothing is said of it. */
static int choice_of_item(const struct plan_choice *choices, const struct plan_group *group,
                          int kind) {
    for (int i = 0; i < group->n; i++)
        if (kind > 0 && choices[i].item_kind == kind)
            return i;
    return PLAN_NONE;
}

static const struct plan_edge *choose_edge(struct engine *engine, struct thread *thread,
                                           const struct plan_node *node,
                                           const struct plan_group *group) {
    const struct plan_choice *choices = &engine->plan->choices[group->first];
    int choice = group->by_item ? choice_of_item(choices, group, thread->item_kind) : PLAN_NONE;
    if (choice != PLAN_NONE)
        return &engine->plan->edges[choices[choice].edge];
    if (group->stay != PLAN_NONE && must_leave(engine, thread, node, group))
        choice = draw_leaving(choices, group, thread);
    else if (group->for_one != PLAN_NONE)
        choice = is_taker(engine, thread, group->taker)
                     ? group->for_one
                     : draw_choice(engine, choices, group, group->for_one, thread);
    else if (group->run == PLAN_NONE)
        choice = draw_choice(engine, choices, group, PLAN_NONE, thread);
    else
        choice = follow_run(engine, thread, group);
    return &engine->plan->edges[choices[choice].edge];
}

/* The next one on the node's course, which begins again at its end. */
static const struct plan_edge *follow_course(const struct engine *engine,
                                             const struct thread *thread,
                                             const struct plan_node *node) {
    const struct plan *plan = engine->plan;
    struct course_place *place =
        &engine->places[thread->id * (size_t)plan->n_courses + (size_t)node->course];
    const struct plan_leg *leg = &plan->legs[node->first_leg + place->leg];
    if (++place->taken >= leg->times)
        *place = (struct course_place){(place->leg + 1) % node->n_legs, 0};
    return &plan->edges[leg->edge];
}

static bool is_endless(struct engine *engine, const struct thread *thread) {
    engine->events++;
    if (engine->events - engine->events_at_advance < MAX_EVENTS_PER_INSTANT)
        return false;
    snprintf(engine->failure, sizeof engine->failure,
             "the model loops without time passing, through node %d (%s): give the loop some "
             "computation or a way out",
             thread->node, engine->plan->model->nodes[thread->node].name);
    return true;
}

/* What remains to be done at the node; sets the outcome. */
static enum progress finish_node(struct engine *engine, struct thread *thread,
                                 const struct plan_node *node) {
    if (thread->phase == PHASE_RETAKE) {
        if (!mutex_retake(engine, thread, &engine->objects[node->mutex]))
            return PROGRESS_WAITS;
        thread->phase = thread->after_retake;
    }
    enum progress progress;
    if (thread->phase == PHASE_GRANTED)
        progress = thread->granted == OUTCOME_NO ? PROGRESS_NO : PROGRESS_YES;
    else
        progress = operate(engine, thread, node);
    walk_leader(engine);
    if (progress <= PROGRESS_NO && thread->waits_since_ns >= 0)
        wait_close(engine, thread, &engine->objects[node->object]);
    return progress;
}

/* What the kernel does for a thread that sleeps: what is written for a commit, and its end. */
static bool is_of_kernel(const struct plan *plan, const struct plan_node *node) {
    if (node->object == MODEL_NONE)
        return false;
    const struct plan_object *object = &plan->objects[node->object];
    return node->kind == NODE_IO ? object->room_ns == 0 && !node->ahead &&
                                       (node->service != PLAN_NONE || node->near != PLAN_NONE)
                                 : node->kind == NODE_PASS && object->by_kernel;
}

static void report_passed(const struct engine *engine, const struct thread *thread, bool is_yes) {
    const struct sim_observer *observer = engine->observer;
    observer->passed(observer->context, (int)thread->id, thread->node, thread->arrived_ns,
                     engine->now_ns, is_yes);
}

void walk_asleep(struct engine *engine, struct thread *thread) {
    const struct plan *plan = engine->plan;
    for (;;) {
        const struct plan_node *node = &plan->nodes[thread->node];
        const struct plan_edge *edge = &plan->edges[plan->choices[node->yes.first].edge];
        bool goes_on = node->course == PLAN_NONE && node->yes.n == 1 && edge->cpu == PLAN_NONE &&
                       (is_of_kernel(plan, node) || node->kind == NODE_TURN);
        if (!goes_on || !is_of_kernel(plan, &plan->nodes[edge->to])) {
            cpu_wake(engine, thread, NULL);
            return;
        }
        if (engine->observer)
            report_passed(engine, thread, true);
        thread->node = edge->to;
        thread->arrived_ns = engine->now_ns;
        node = &plan->nodes[thread->node];
        if (node->kind == NODE_IO && disk_ask(engine, thread, &engine->objects[node->object]))
            return;
        thread->phase = PHASE_GRANTED;
        thread->granted = OUTCOME_YES;
        if (node->kind == NODE_PASS)
            order_pass_for(engine, thread, &engine->objects[node->object]);
        walk_leader(engine);
    }
}

void walk_thread(struct engine *engine, struct thread *thread) {
    const struct plan *plan = engine->plan;
    if (thread->is_leaving)
        condition_leave(engine, thread);
    for (;;) {
        const struct plan_node *node = &plan->nodes[thread->node];
        if (thread->phase == PHASE_ARRIVE) {
            if (is_endless(engine, thread))
                return;
            thread->phase = PHASE_OPERATE;
            thread->arrived_ns = engine->now_ns;
            if (node->cpu != PLAN_NONE &&
                cpu_compute(engine, thread, draws_of_round(engine, node->cpu, thread)))
                return;
        }
        enum progress progress = finish_node(engine, thread, node);
        if (progress > PROGRESS_NO)
            return;
        if (engine->observer)
            report_passed(engine, thread, progress == PROGRESS_YES);
        const struct plan_group *group = progress == PROGRESS_NO ? &node->no : &node->yes;
        const struct plan_edge *edge = node->course == PLAN_NONE
                                           ? choose_edge(engine, thread, node, group)
                                           : follow_course(engine, thread, node);
        thread->node = edge->to;
        thread->phase = PHASE_ARRIVE;
        double drawn = draws_of_round(engine, edge->cpu, thread);
        if (cpu_compute(engine, thread, demand_of(engine, thread, edge, drawn)))
            return;
    }
}
