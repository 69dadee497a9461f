#include "simulator/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "simulator/cpu.h"
#include "simulator/disk.h"
#include "simulator/draws.h"
#include "simulator/links.h"
#include "simulator/orders.h"
#include "simulator/stalls.h"
#include "simulator/stores.h"
#include "simulator/wait_account.h"
#include "simulator/waiting.h"
#include "simulator/walk.h"

struct engine *engine_make(const struct plan *plan) {
    struct engine *engine = memory_alloc(1, sizeof *engine);
    size_t n_threads = (size_t)plan->n_threads;
    size_t n_cores = (size_t)plan->cores;
    size_t n_objects = (size_t)plan->n_objects;
    engine->plan = plan;
    size_t n_readers = plan->reads_ahead ? 2 * n_threads : 0;
    heap_init(&engine->clock, n_threads + n_cores + n_objects + 2 + n_readers);
    engine->readers = n_readers > 0 ? memory_alloc(n_readers, sizeof *engine->readers) : NULL;
    heap_init(&engine->thinking, (size_t)plan->n_clients);
    engine->queues = memory_alloc(n_cores, sizeof *engine->queues);
    for (size_t i = 0; i < n_cores; i++) {
        heap_init(&engine->queues[i].waiting, n_threads);
    }
    engine->turn = memory_alloc(n_threads, sizeof(struct thread *));
    engine->threads = memory_alloc(n_threads, sizeof *engine->threads);
    engine->cores = memory_alloc(n_cores, sizeof *engine->cores);
    engine->idle_cores = memory_alloc(n_cores, sizeof *engine->idle_cores);
    engine->objects = memory_alloc(n_objects, sizeof *engine->objects);
    engine->joiners = memory_alloc((size_t)plan->n_pools, sizeof *engine->joiners);
    engine->awake = memory_alloc((size_t)plan->n_pools, sizeof *engine->awake);
    engine->alive = memory_alloc((size_t)plan->n_pools, sizeof *engine->alive);
    draws_make(engine);
    engine->runs = memory_alloc(n_threads * (size_t)plan->n_runs, sizeof *engine->runs);
    engine->cards = memory_alloc((size_t)plan->n_cards, sizeof *engine->cards);
    engine->places = memory_alloc(n_threads * (size_t)plan->n_courses, sizeof *engine->places);
    engine->comers = memory_alloc((size_t)plan->n_nodes, sizeof *engine->comers);
    engine->calls_made = memory_alloc((size_t)plan->n_nodes, sizeof *engine->calls_made);
    engine->is_made = memory_alloc((size_t)plan->n_calls, sizeof *engine->is_made);
    engine->made_for = memory_alloc((size_t)plan->n_calls, sizeof *engine->made_for);
    engine->rows = memory_alloc((size_t)plan->n_rows, sizeof *engine->rows);
    engine->last_calls = memory_alloc(n_threads * (size_t)plan->n_rows, sizeof *engine->last_calls);
    engine->numbers = memory_alloc(n_threads * (size_t)plan->n_orders, sizeof *engine->numbers);
    engine->waiters = memory_alloc((size_t)plan->n_sides, sizeof *engine->waiters);
    engine->conditions = memory_alloc((size_t)plan->n_sides, sizeof *engine->conditions);
    size_t n_variables = (size_t)plan->n_variables;
    engine->variables = memory_alloc(n_variables, sizeof *engine->variables);
    engine->own_variables = memory_alloc(n_threads * n_variables, sizeof *engine->own_variables);
    return engine;
}

void engine_free(struct engine *engine) {
    for (int i = 0; i < engine->plan->n_objects; i++) {
        free(engine->objects[i].items);
        free(engine->objects[i].waiting.items);
        free(engine->objects[i].under_way.items);
    }
    heap_free(&engine->clock);
    heap_free(&engine->thinking);
    for (int i = 0; i < engine->plan->cores; i++) {
        heap_free(&engine->queues[i].waiting);
    }
    free(engine->queues);
    free(engine->turn);
    free(engine->readers);
    free(engine->threads);
    free(engine->cores);
    free(engine->idle_cores);
    free(engine->objects);
    free(engine->joiners);
    free(engine->awake);
    free(engine->alive);
    draws_free(engine);
    free(engine->runs);
    free(engine->cards);
    free(engine->places);
    free(engine->comers);
    free(engine->calls_made);
    free(engine->is_made);
    free(engine->made_for);
    free(engine->rows);
    free(engine->last_calls);
    free(engine->numbers);
    free(engine->waiters);
    free(engine->conditions);
    free(engine->variables);
    free(engine->own_variables);
    free(engine);
}

/* ---- the empty machine ---- */

static void reset_variables(const struct plan *plan, struct value *variables) {
    if (plan->n_variables > 0)
        memcpy(variables, plan->variables, (size_t)plan->n_variables * sizeof *variables);
}

static void reset_threads(struct engine *engine, uint64_t seed) {
    const struct plan *plan = engine->plan;
    for (size_t i = 0; i < (size_t)plan->n_threads * (size_t)plan->n_runs; i++)
        engine->runs[i] = (struct edge_run){.choice = PLAN_NONE};
    memset(engine->cards, 0, (size_t)plan->n_cards * sizeof *engine->cards);
    memset(engine->places, 0,
           (size_t)plan->n_threads * (size_t)plan->n_courses * sizeof *engine->places);
    memset(engine->comers, 0, (size_t)plan->n_nodes * sizeof *engine->comers);
    memset(engine->calls_made, 0, (size_t)plan->n_nodes * sizeof *engine->calls_made);
    memset(engine->is_made, 0, (size_t)plan->n_calls * sizeof *engine->is_made);
    memset(engine->made_for, 0, (size_t)plan->n_calls * sizeof *engine->made_for);
    engine->tasks_come = 0;
    memset(engine->rows, 0, (size_t)plan->n_rows * sizeof *engine->rows);
    for (size_t i = 0; i < (size_t)plan->n_threads * (size_t)plan->n_rows; i++)
        engine->last_calls[i] = PLAN_NONE;
    for (int pool = 0; pool < plan->n_pools; pool++) {
        const struct plan_pool *planned = &plan->pools[pool];
        engine->joiners[pool] = (struct wait_list){0};
        engine->awake[pool] = (struct awake_pool){0};
        engine->alive[pool] = planned->threads;
        if (planned->at_start)
            engine->alive_at_start += planned->threads;
        for (int k = 0; k < planned->threads; k++) {
            int id = planned->first_thread + k;
            engine->threads[id] = (struct thread){
                .id = (uint32_t)id,
                .pool = pool,
                .node = planned->entry,
                .granted = OUTCOME_YES,
                .last_core = PLAN_NONE,
                .recent_core = PLAN_NONE,
                .cache_core = PLAN_NONE,
                .wakes.last = PLAN_NONE,
                .ran_ns = -INFINITY,
                .waits_since_ns = -1,
                .locks_since_ns = -1,
                .clock_ns = NAN,
                .birth_ns = NAN,
                .task = TASK_NONE,
                .client = PLAN_NONE,
                .queue = PLAN_NONE,
                .random = random_open(seed, STREAM_THREAD, (uint64_t)pool, (uint64_t)k),
                .runs = engine->runs + (size_t)id * (size_t)plan->n_runs,
                .numbers = engine->numbers + (size_t)id * (size_t)plan->n_orders,
                .variables = engine->own_variables + (size_t)id * (size_t)plan->n_variables,
            };
            reset_variables(plan, engine->threads[id].variables);
            for (int i = 0; i < plan->n_orders; i++)
                engine->threads[id].numbers[i] = (struct held_number){INFINITY, 0};
        }
    }
}

static void reset_readers(struct engine *engine) {
    const struct plan *plan = engine->plan;
    uint32_t first = (uint32_t)(plan->n_threads + plan->cores + plan->n_objects + 2);
    for (uint32_t i = 0; engine->readers && i < 2 * (uint32_t)plan->n_threads; i++)
        engine->readers[i] = (struct thread){.id = first + i,
                                             .reads_for = &engine->threads[i / 2],
                                             .waits_since_ns = -1,
                                             .request = PLAN_NONE};
}

static void reset_objects(struct engine *engine, uint64_t seed) {
    const struct plan *plan = engine->plan;
    reset_variables(plan, engine->variables);
    memset(engine->waiters, 0, (size_t)plan->n_sides * sizeof *engine->waiters);
    memset(engine->conditions, 0, (size_t)plan->n_sides * sizeof *engine->conditions);
    for (int i = 0; i < plan->n_objects; i++) {
        struct shared *object = &engine->objects[i];
        *object = (struct shared){
            .n_sides = plan->objects[i].n_sides,
            .waiters = engine->waiters + plan->objects[i].first_side,
            .conditions = engine->conditions + plan->objects[i].condition_side,
            .kind = plan->objects[i].kind,
            .event = (uint32_t)(plan->n_threads + plan->cores + i),
            .amount = plan->objects[i].amount,
            .writers_first = plan->objects[i].writers_first,
            .items = object->items,
            .capacity = object->capacity,
            .waiting = object->waiting,
            .under_way = object->under_way,
            .random = random_open(seed, STREAM_OBJECT, (uint64_t)i, 0),
        };
        if (object->kind == OBJECT_QUEUE) {
            queue_reset(engine, i);
            clients_reset(engine, i);
        }
        if (object->kind == OBJECT_ORDER)
            order_reset(engine, object);
        if (object->kind == OBJECT_LINK)
            link_reset(object);
    }
}

static void reset_engine(struct engine *engine, uint64_t seed) {
    engine->now_ns = 0;
    engine->counted_since_ns = 0;
    engine->events = 0;
    engine->events_at_advance = 0;
    heap_clear(&engine->clock);
    heap_clear(&engine->thinking);
    engine->turn_first = 0;
    engine->turn_n = 0;
    engine->alive_at_start = 0;
    engine->resting_pool = PLAN_NONE;
    engine->arrivals_ended = false;
    engine->replies_under_way = 0;
    engine->tasks = engine->tasks_ever = 0;
    engine->kernel_leader = NULL;
    engine->stalls = engine->guessed = 0;
    engine->guessed_wait_ns = 0;
    engine->stalled_at[0] = '\0';
    engine->failure[0] = '\0';
    histogram_clear(&engine->response);
    engine->dice = random_open(seed, STREAM_DICE, 0, 0);
    cpu_reset(engine);
    draws_reset(engine, seed);
    reset_threads(engine, seed);
    reset_readers(engine);
    reset_objects(engine, seed);
}

/* ---- the clock ---- */

/* Threads go round and round, trying in vain what others, who wait, would have to make possible. */
static void give_up(struct engine *engine) {
    const struct model *model = engine->plan->model;
    const struct thread *busy = NULL;
    for (int i = 0; i < engine->plan->n_threads && !busy; i++)
        if (engine->threads[i].state == THREAD_RUNNING && !engine->threads[i].is_spinning)
            busy = &engine->threads[i];
    snprintf(
        engine->failure, sizeof engine->failure,
        "the simulated program does not end: after %.0f s, where %.3g s were recorded, it still "
        "goes round%s%s: the model is incomplete there, see `persik graph`",
        engine->now_ns * 1e-9, model->measured_run_ns * 1e-9, busy ? " at " : "",
        busy ? model->nodes[busy->node].name : "");
}

static void give_turn(struct engine *engine) {
    struct thread *thread = engine->turn[engine->turn_first];
    if (++engine->turn_first == (uint32_t)engine->plan->n_threads)
        engine->turn_first = 0;
    engine->turn_n--;
    walk_thread(engine, thread);
}

static void wake_from_pause(struct engine *engine, struct thread *thread) {
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    if (thread->waits_in)
        wait_time_out(engine, thread);
    else if (node->kind == NODE_IO && node->object != MODEL_NONE) {
        if (disk_complete(engine, thread, &engine->objects[node->object]))
            walk_asleep(engine, thread);
    } else
        cpu_wake(engine, thread, NULL);
}

static void handle_link(struct engine *engine, int link) {
    struct message message;
    link_go_on(engine, link);
    while (link_take(engine, link, &message)) {
        if (message.kind == MESSAGE_REPLY)
            task_answered(engine, message.birth_ns, message.client);
        else
            queue_come(engine, message.queue, message.birth_ns, message.client);
    }
}

static void handle_event(struct engine *engine, int id) {
    const struct plan *plan = engine->plan;
    engine->events++;
    if (id < plan->n_threads) {
        wake_from_pause(engine, &engine->threads[id]);
        return;
    }
    id -= plan->n_threads;
    if (id < plan->cores) {
        if (cpu_only_spins(engine, id))
            stall_break(engine);
        cpu_handle_event(engine, id);
        return;
    }
    id -= plan->cores;
    if (id == plan->n_objects)
        cpu_handle_tick(engine);
    else if (id > plan->n_objects + 1)
        disk_complete_ahead(engine, id - plan->n_objects - 2);
    else if (id > plan->n_objects)
        clients_come(engine);
    else if (plan->objects[id].kind == OBJECT_LINK)
        handle_link(engine, id);
    else
        queue_arrive(engine, id);
}

void engine_count_anew(struct engine *engine) {
    engine->counted_since_ns = engine->now_ns;
    for (int i = 0; i < engine->plan->n_threads; i++) {
        struct thread *thread = &engine->threads[i];
        memset(thread->time_ns, 0, sizeof thread->time_ns);
        thread->since_ns = engine->now_ns;
    }
    for (int i = 0; i < engine->plan->n_objects; i++) {
        struct shared *object = &engine->objects[i];
        object->operations = object->waits = object->wait_ns = object->dropped = 0;
        object->unseen = 0;
        object->busy_ns = object->length_ns = 0;
        object->touched_ns = engine->now_ns;
        object->items_before = object->least_items = object->n_items;
    }
    for (int i = 0; i < engine->plan->n_pools; i++)
        engine->awake[i].spun_ns = 0;
    engine->tasks = 0;
    histogram_clear(&engine->response);
}

void engine_settle(struct engine *engine) {
    for (int i = 0; i < engine->plan->n_threads; i++) {
        struct thread *thread = &engine->threads[i];
        cpu_set_state(engine, thread, thread->state);
    }
    for (int i = 0; i < engine->plan->n_objects; i++)
        shared_touch(engine, &engine->objects[i]);
}

bool engine_go_on(struct engine *engine, double until_ns) {
    engine->until_ns = fmin(until_ns, engine->plan->patience_ns);
    while (!engine->failure[0]) {
        if (engine->alive_at_start == 0 && engine->replies_under_way == 0)
            return true; /* the process exits, whatever other threads are doing */
        if (engine->tasks_ever >= engine->plan->tasks_in_all)
            return true; /* a server's other threads wait for whatever ends it */
        if (engine->turn_n > 0) {
            give_turn(engine);
            continue;
        }
        if (engine->clock.count == 0) {
            if (engine->arrivals_ended)
                return true; /* all the work that came is done; servers wait for more */
            stall_break(engine);
            continue;
        }
        struct heap_entry next = *heap_first(&engine->clock);
        if (next.key > until_ns)
            break;
        if (next.key > engine->plan->patience_ns) {
            give_up(engine);
            break;
        }
        heap_remove(&engine->clock, next.id);
        engine_advance(engine, next.key);
        handle_event(engine, (int)next.id);
    }
    if (!engine->failure[0])
        engine_advance(engine, until_ns);
    return false;
}

void engine_begin(struct engine *engine, uint64_t seed, uint64_t replication) {
    reset_engine(engine, random_mix(random_mix(seed) + replication));
    for (int i = 0; i < engine->plan->n_threads; i++) {
        struct thread *thread = &engine->threads[i];
        if (engine->plan->pools[thread->pool].at_start)
            cpu_wake(engine, thread, NULL);
    }
}

int engine_run(struct engine *engine, uint64_t seed, uint64_t replication) {
    const struct plan *plan = engine->plan;
    engine_begin(engine, seed, replication);
    bool is_over = false;
    if (plan->warmup_ns > 0) {
        is_over = engine_go_on(engine, plan->warmup_ns);
        engine_count_anew(engine);
    }
    if (!is_over)
        engine_go_on(engine, plan->horizon_ns);
    else
        snprintf(engine->failure, sizeof engine->failure,
                 "the run ends after %.3f s, before the warm-up of %.3f s: give a shorter one",
                 engine->now_ns * 1e-9, plan->warmup_ns * 1e-9);
    engine_settle(engine);
    return engine->failure[0] ? -1 : 0;
}
