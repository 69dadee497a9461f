#include "simulator/stores.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "simulator/draws.h"
#include "simulator/links.h"
#include "simulator/wait_account.h"
#include "simulator/waiting.h"
#include "simulator/waking.h"

static const struct plan_node *node_of(const struct engine *engine, const struct thread *thread) {
    return &engine->plan->nodes[thread->node];
}

/* What the store does not have: wait, unless it is closed and the node knows how to go on. */
static enum progress lack(struct engine *engine, struct thread *thread, struct shared *object,
                          int side) {
    if (object->is_closed && node_of(engine, thread)->says_no)
        return PROGRESS_NO;
    return wait_for(engine, thread, object, side, PHASE_RETRY);
}

/* Everybody has found that there is nothing left: what comes next starts anew. */
static void count_in_vain(const struct engine *engine, struct shared *tokens) {
    const struct plan_object *planned = engine_planned(engine, tokens);
    if (++tokens->in_vain < planned->refilled_after)
        return;
    tokens->in_vain = 0;
    tokens->amount = planned->amount;
}

/* How many tokens it is to take. */
static void decide_amount(struct engine *engine, struct thread *thread) {
    const struct plan_node *node = node_of(engine, thread);
    if (node->counts == PLAN_NONE)
        thread->wanted = random_round(&thread->random, node->count);
    else
        thread->wanted = thread->taken = draws_one(engine, node->counts, &thread->random);
}

enum progress tokens_acquire(struct engine *engine, struct thread *thread, struct shared *object) {
    wait_open(engine, thread, object);
    if (thread->phase != PHASE_RETRY)
        decide_amount(engine, thread);
    wait_drop_claim(thread, object, SIDE_TAKERS);
    if (object->amount < thread->wanted) {
        enum progress progress = lack(engine, thread, object, SIDE_TAKERS);
        if (progress == PROGRESS_NO)
            count_in_vain(engine, object);
        return progress;
    }
    shared_touch(engine, object);
    object->amount -= thread->wanted;
    return PROGRESS_YES;
}

enum progress tokens_release(struct engine *engine, struct thread *thread, struct shared *object) {
    if (thread->phase != PHASE_SIGNAL) {
        shared_touch(engine, object);
        const struct plan_node *node = node_of(engine, thread);
        object->amount +=
            node->gives_back ? thread->taken : random_round(&thread->random, node->count);
    }
    return wait_announce(engine, thread, object, SIDE_TAKERS, object->amount);
}

static void grow_ring(struct shared *queue) {
    size_t capacity = queue->capacity ? 2 * queue->capacity : 16;
    struct item *items = memory_alloc(capacity, sizeof *items);
    for (size_t i = 0; i < queue->n_items; i++)
        items[i] = queue->items[(queue->first + i) % queue->capacity];
    free(queue->items);
    queue->items = items;
    queue->capacity = capacity;
    queue->first = 0;
}

static void add_item(struct engine *engine, struct shared *queue, struct item item) {
    shared_touch(engine, queue);
    if (queue->n_items == queue->capacity)
        grow_ring(queue);
    size_t at = queue->first + queue->n_items++;
    queue->items[at < queue->capacity ? at : at - queue->capacity] = item;
}

static struct item *item_at(const struct shared *queue, size_t place) {
    size_t at = queue->first + place;
    return &queue->items[at < queue->capacity ? at : at - queue->capacity];
}

/* Those in front of the place move down by one. */
static void insert_item(struct engine *engine, struct shared *queue, size_t place,
                        struct item item) {
    shared_touch(engine, queue);
    if (queue->n_items == queue->capacity)
        grow_ring(queue);
    queue->first = (queue->first > 0 ? queue->first : queue->capacity) - 1;
    queue->n_items++;
    for (size_t i = 0; i < place; i++)
        *item_at(queue, i) = *item_at(queue, i + 1);
    *item_at(queue, place) = item;
}

/* What threads have put back, in its order, is before all that has come from outside. */
static void add_returned(struct engine *engine, struct shared *queue, struct item item) {
    int arrivals = engine_planned(engine, queue)->item_kind;
    size_t place = 0;
    while (place < queue->n_items && item_at(queue, place)->kind != arrivals)
        place++;
    insert_item(engine, queue, place, item);
}

/* The first that is for this thread; n_items: there is none. */
static size_t find_item(const struct shared *queue, const struct thread *thread) {
    size_t place = 0;
    while (place < queue->n_items && item_at(queue, place)->owner &&
           item_at(queue, place)->owner != thread)
        place++;
    return place;
}

/* Those in front of it move up by one. */
static struct item remove_item(struct engine *engine, struct shared *queue, size_t place) {
    shared_touch(engine, queue);
    struct item item = *item_at(queue, place);
    for (; place > 0; place--)
        *item_at(queue, place) = *item_at(queue, place - 1);
    if (++queue->first == queue->capacity)
        queue->first = 0;
    queue->n_items--;
    if (queue->n_items < queue->least_items)
        queue->least_items = queue->n_items;
    return item;
}

static enum progress announce_room(struct engine *engine, struct thread *thread,
                                   struct shared *queue) {
    double room = queue->amount - (double)queue->n_items;
    return wait_announce(engine, thread, queue, SIDE_PUTTERS, room);
}

static enum progress announce_items(struct engine *engine, struct thread *thread,
                                    struct shared *queue) {
    return wait_announce(engine, thread, queue, SIDE_TAKERS, (double)queue->n_items);
}

enum progress queue_put(struct engine *engine, struct thread *thread, struct shared *object) {
    if (thread->phase == PHASE_SIGNAL)
        return announce_items(engine, thread, object);
    wait_open(engine, thread, object);
    wait_drop_claim(thread, object, SIDE_PUTTERS);
    thread->wanted = 1;
    if ((double)object->n_items >= object->amount)
        return lack(engine, thread, object, SIDE_PUTTERS);
    bool is_silent = engine_planned(engine, object)->when_empty && object->n_items > 0;
    long count = lround(random_round(&thread->random, node_of(engine, thread)->count));
    double birth_ns = isnan(thread->birth_ns) ? engine->now_ns : thread->birth_ns;
    const struct plan_object *planned = engine_planned(engine, object);
    for (long i = 0; i < count; i++)
        (planned->returned_first ? add_returned : add_item)(
            engine, object,
            (struct item){birth_ns, node_of(engine, thread)->item_kind, thread->client,
                          thread->queue, NULL, thread->task});
    return is_silent ? PROGRESS_YES : announce_items(engine, thread, object);
}

/* Those that the model gives no way to go on stay. */
static void wake_all(struct engine *engine, struct thread *waker, struct wait_list *list) {
    struct thread *next;
    for (struct thread *sleeper = list->head; sleeper; sleeper = next) {
        next = sleeper->next;
        if (node_of(engine, sleeper)->says_no)
            wait_wake(engine, waker, sleeper);
    }
}

enum progress store_close(struct engine *engine, struct thread *thread, struct shared *object) {
    shared_touch(engine, object);
    object->is_closed = true;
    wake_all(engine, thread, &object->waiters[SIDE_TAKERS]);
    wake_all(engine, thread, &object->waiters[SIDE_PUTTERS]);
    return PROGRESS_YES;
}

static double items_in_all(const struct engine *engine, const struct shared *queue) {
    return engine_planned(engine, queue)->items_in_all;
}

static bool is_used_up(const struct engine *engine, const struct shared *queue) {
    return queue->taken >= items_in_all(engine, queue);
}

/* Items that are there for a thread that has not been woken for one, or has no claim any more. */
static double items_for_others(const struct engine *engine, const struct shared *queue) {
    bool handed = engine_planned(engine, queue)->handed;
    return (double)queue->n_items - (handed ? queue->announced[SIDE_TAKERS] : 0);
}

enum progress queue_get(struct engine *engine, struct thread *thread, struct shared *object) {
    if (thread->phase == PHASE_SIGNAL)
        return announce_room(engine, thread, object);
    wait_open(engine, thread, object);
    wait_drop_claim(thread, object, SIDE_TAKERS);
    thread->wanted = 1;
    size_t place = find_item(object, thread);
    if (items_for_others(engine, object) < 1 || place == object->n_items ||
        is_used_up(engine, object))
        return lack(engine, thread, object, SIDE_TAKERS);
    struct item item = remove_item(engine, object, place);
    thread->birth_ns = item.birth_ns;
    thread->item_kind = item.kind;
    thread->client = item.client;
    thread->queue = item.queue;
    thread->task = item.task;
    object->taken++;
    if (is_used_up(engine, object))
        store_close(engine, thread, object);
    return announce_room(engine, thread, object);
}

bool queue_go_on(struct engine *engine, struct shared *queue) {
    bool has_end = isfinite(items_in_all(engine, queue));
    if (!has_end || is_used_up(engine, queue) || !queue->waiters[SIDE_TAKERS].head)
        return false;
    add_item(engine, queue,
             (struct item){engine->now_ns, 0, PLAN_NONE, PLAN_NONE, NULL, TASK_NONE});
    announce_items(engine, NULL, queue);
    return true;
}

static void schedule_arrival(struct engine *engine, int object) {
    struct shared *queue = &engine->objects[object];
    const struct plan_object *planned = &engine->plan->objects[object];
    double gap = planned->n_gaps > 0
                     ? planned->gaps[queue->gaps_had++ % planned->n_gaps] * planned->gap_factor
                     : draws_one(engine, planned->interarrival, &queue->random);
    heap_set(&engine->clock, queue->event, engine->now_ns + gap);
}

void queue_reset(struct engine *engine, int object) {
    const struct plan_object *planned = &engine->plan->objects[object];
    struct shared *queue = &engine->objects[object];
    for (long i = 0; i < planned->initial_items; i++)
        add_item(engine, queue,
                 (struct item){engine->now_ns, 0, PLAN_NONE, PLAN_NONE, NULL, TASK_NONE});
    if (planned->interarrival == PLAN_NONE)
        return;
    queue->arrivals_left = queue->arrivals_awaited = planned->arrivals;
    queue->tasks_open = 0;
    schedule_arrival(engine, object);
}

/* The thread that what comes to the queue is dealt to; `number`: of the connection by which it
 * comes. NULL: anyone takes it. */
static struct thread *owner_of(struct engine *engine, const struct shared *queue, uint32_t number) {
    int dealt_to = engine_planned(engine, queue)->dealt_to;
    if (dealt_to == MODEL_NONE)
        return NULL;
    const struct plan_pool *pool = &engine->plan->pools[dealt_to];
    return &engine->threads[(uint32_t)pool->first_thread + number % (uint32_t)pool->threads];
}

/* Requests of an open load come by any connection. */
static struct thread *owner_of_arrival(struct engine *engine, struct shared *queue) {
    int dealt_to = engine_planned(engine, queue)->dealt_to;
    uint32_t threads = dealt_to == MODEL_NONE ? 1 : (uint32_t)engine->plan->pools[dealt_to].threads;
    return owner_of(engine, queue, threads > 1 ? random_below(&queue->random, threads) : 0);
}

static void announce_arrival(struct engine *engine, struct shared *queue, struct thread *owner) {
    if (!owner)
        announce_items(engine, NULL, queue);
    else if (owner->waits_in == &queue->waiters[SIDE_TAKERS])
        wait_wake(engine, NULL, owner);
}

/* The last one closes the queue, unless some of what came may be put back yet. */
static void count_arrival(struct engine *engine, struct shared *queue) {
    if (--queue->arrivals_awaited > 0)
        return;
    engine->arrivals_ended = true;
    if (engine_planned(engine, queue)->item_kind == 0)
        store_close(engine, NULL, queue);
}

void queue_task_done(struct engine *engine, int object) {
    struct shared *queue = &engine->objects[object];
    if (--queue->tasks_open <= 0 && queue->arrivals_awaited <= 0 &&
        engine_planned(engine, queue)->item_kind > 0)
        store_close(engine, NULL, queue);
}

/* Those that come first are the recorded ones, in their order. */
static struct task next_task(struct engine *engine, struct shared *queue) {
    uint32_t n = (uint32_t)engine->plan->n_tasks, half = n / 2;
    struct task task = {PLAN_NONE, ++engine->tasks_come};
    if (n == 0)
        return task;
    bool is_recorded = !engine->plan->is_steady && task.number <= n;
    task.like =
        (int)(is_recorded ? task.number - 1 : half + random_below(&queue->random, n - half));
    return task;
}

void queue_come(struct engine *engine, int object, double birth_ns, int client) {
    struct shared *queue = &engine->objects[object];
    bool of_client = client != PLAN_NONE; /* who waits for room where there is none */
    struct thread *owner =
        of_client ? owner_of(engine, queue, (uint32_t)client) : owner_of_arrival(engine, queue);
    bool has_room = of_client || (double)queue->n_items < queue->amount;
    queue->tasks_open += has_room && !of_client;
    if (has_room)
        add_item(engine, queue,
                 (struct item){birth_ns, engine_planned(engine, queue)->item_kind, client, object,
                               owner, next_task(engine, queue)});
    else
        queue->dropped++;
    announce_arrival(engine, queue, owner);
    if (!of_client)
        count_arrival(engine, queue);
}

/* Over the network, if there is one. */
static void ask(struct engine *engine, int queue, int client) {
    if (engine->plan->objects[queue].comes_by != MODEL_NONE)
        link_send_request(engine, queue, client);
    else
        queue_come(engine, queue, engine->now_ns, client);
}

void queue_arrive(struct engine *engine, int object) {
    bool is_last = --engine->objects[object].arrivals_left <= 0;
    ask(engine, object, PLAN_NONE);
    if (!is_last)
        schedule_arrival(engine, object);
}

/* ---- clients ---- */

/* The clock has one event for all clients: when the first of them comes. */
static void arm(struct engine *engine) {
    const struct plan *plan = engine->plan;
    uint32_t event = (uint32_t)(plan->n_threads + plan->cores + plan->n_objects + 1);
    if (engine->thinking.count > 0)
        heap_set(&engine->clock, event, heap_first(&engine->thinking)->key);
}

static int queue_of(const struct plan *plan, int client) {
    int queue = 0;
    while (client >= plan->objects[queue].first_client + plan->objects[queue].n_clients ||
           plan->objects[queue].n_clients == 0)
        queue++;
    return queue;
}

static void think(struct engine *engine, int queue, int client) {
    struct random_stream *random = &engine->objects[queue].random;
    double time_ns = draws_one(engine, engine->plan->objects[queue].think, random);
    heap_set(&engine->thinking, (uint32_t)client, engine->now_ns + time_ns);
}

void clients_reset(struct engine *engine, int object) {
    const struct plan_object *planned = &engine->plan->objects[object];
    for (int i = 0; i < planned->n_clients; i++)
        think(engine, object, planned->first_client + i);
    arm(engine);
}

void clients_come(struct engine *engine) {
    int client = (int)heap_first(&engine->thinking)->id;
    heap_remove(&engine->thinking, (uint32_t)client);
    arm(engine);
    ask(engine, queue_of(engine->plan, client), client);
}

/* Its client, if there is one (else PLAN_NONE), thinks again. */
static void clients_leave(struct engine *engine, int client) {
    if (client == PLAN_NONE || heap_has(&engine->thinking, (uint32_t)client))
        return;
    think(engine, queue_of(engine->plan, client), client);
    arm(engine);
}

void task_answered(struct engine *engine, double birth_ns, int client) {
    engine->tasks++;
    engine->tasks_ever++;
    if (!isnan(birth_ns))
        histogram_add(&engine->response, engine->now_ns - birth_ns);
    clients_leave(engine, client);
}
