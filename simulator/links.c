#include "simulator/links.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "simulator/draws.h"
#include "simulator/wait_account.h"

/* ---- rings of messages ---- */

static struct message *ring_at(const struct message_ring *ring, size_t place) {
    size_t at = ring->first + place;
    return &ring->items[at < ring->capacity ? at : at - ring->capacity];
}

static void ring_grow(struct message_ring *ring) {
    size_t capacity = ring->capacity ? 2 * ring->capacity : 16;
    struct message *items = memory_alloc(capacity, sizeof *items);
    for (size_t i = 0; i < ring->n; i++)
        items[i] = *ring_at(ring, i);
    free(ring->items);
    *ring = (struct message_ring){.items = items, .n = ring->n, .capacity = capacity};
}

static void ring_append(struct message_ring *ring, struct message message) {
    if (ring->n == ring->capacity)
        ring_grow(ring);
    *ring_at(ring, ring->n++) = message;
}

static struct message ring_take(struct message_ring *ring) {
    struct message first = *ring_at(ring, 0);
    ring->first = ring->first + 1 == ring->capacity ? 0 : ring->first + 1;
    ring->n--;
    return first;
}

/* By when they are due: what was sent later mostly arrives later, too. */
static void ring_insert(struct message_ring *ring, struct message message) {
    ring_append(ring, message);
    for (size_t i = ring->n - 1; i > 0 && ring_at(ring, i - 1)->due_ns > message.due_ns; i--) {
        *ring_at(ring, i) = *ring_at(ring, i - 1);
        *ring_at(ring, i - 1) = message;
    }
}

/* ---- sending ---- */

/* The clock has one event for each link: the next that is due. */
static void arm(struct engine *engine, const struct shared *link) {
    double due_ns = INFINITY;
    if (link->waiting.n > 0)
        due_ns = link->sent_ns;
    if (link->under_way.n > 0)
        due_ns = fmin(due_ns, ring_at(&link->under_way, 0)->due_ns);
    if (isfinite(due_ns))
        heap_set(&engine->clock, link->event, due_ns);
}

static void begin_next(const struct engine *engine, struct shared *link) {
    const struct message *next = ring_at(&link->waiting, 0);
    link->wait_ns += engine->now_ns - next->due_ns;
    link->sent_ns = engine->now_ns + next->sending_ns;
}

static void depart(struct engine *engine, struct shared *link, struct message message) {
    message.due_ns = engine->now_ns + engine_planned(engine, link)->latency_ns + message.before_ns;
    ring_insert(&link->under_way, message);
}

/* `bytes`: a draw. */
static void send(struct engine *engine, int index, struct message message, int bytes) {
    struct shared *link = &engine->objects[index];
    const struct plan_object *planned = &engine->plan->objects[index];
    link->operations++;
    if (planned->bytes_per_ns > 0) {
        shared_touch(engine, link);
        message.sending_ns = draws_one(engine, bytes, &link->random) / planned->bytes_per_ns;
        message.due_ns = engine->now_ns; /* while it waits: since when */
        link->waits += link->waiting.n > 0;
        ring_append(&link->waiting, message);
        link->n_items++;
        if (link->waiting.n == 1)
            begin_next(engine, link);
    } else {
        depart(engine, link, message);
    }
    arm(engine, link);
}

void link_send_request(struct engine *engine, int queue, int client) {
    const struct plan_object *planned = &engine->plan->objects[queue];
    struct message request = {.birth_ns = engine->now_ns,
                              .queue = queue,
                              .client = client,
                              .before_ns = planned->connecting_ns};
    send(engine, planned->comes_by, request, planned->request_bytes);
}

void link_send_reply(struct engine *engine, const struct message *reply) {
    const struct plan_object *planned = &engine->plan->objects[reply->queue];
    struct message sent = *reply;
    sent.is_reply = true;
    engine->replies_under_way++;
    send(engine, planned->goes_by, sent, planned->reply_bytes);
}

void link_go_on(struct engine *engine, int index) {
    struct shared *link = &engine->objects[index];
    if (link->waiting.n > 0 && link->sent_ns <= engine->now_ns) {
        shared_touch(engine, link);
        depart(engine, link, ring_take(&link->waiting));
        link->n_items--;
        if (link->n_items < link->least_items)
            link->least_items = link->n_items;
        if (link->waiting.n > 0)
            begin_next(engine, link);
    }
    arm(engine, link);
}

bool link_take(struct engine *engine, int index, struct message *message) {
    struct shared *link = &engine->objects[index];
    if (link->under_way.n == 0 || ring_at(&link->under_way, 0)->due_ns > engine->now_ns)
        return false;
    *message = ring_take(&link->under_way);
    engine->replies_under_way -= message->is_reply;
    heap_remove(&engine->clock, link->event);
    arm(engine, link);
    return true;
}

void link_reset(struct shared *link) {
    link->waiting.n = link->waiting.first = 0;
    link->under_way.n = link->under_way.first = 0;
}
