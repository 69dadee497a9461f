#include "simulator/links.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "simulator/draws.h"
#include "simulator/wait_account.h"

/* An Ethernet carries packets of 1500 bytes, and each has the headers of IPv4 and TCP in it, with
 * TCP's time stamps. */
#define HEADER_BYTES 52.0
#define PIECE_BYTES  (1500 - HEADER_BYTES)

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
    message.due_ns = engine->now_ns + engine_planned(engine, link)->latency_ns;
    ring_append(&link->under_way, message);
}

static double on_the_wire(double bytes) {
    return bytes + HEADER_BYTES * fmax(ceil(bytes / PIECE_BYTES), 1);
}

static void send(struct engine *engine, int index, struct message message, double bytes) {
    struct shared *link = &engine->objects[index];
    const struct plan_object *planned = &engine->plan->objects[index];
    link->operations++;
    if (planned->bytes_per_ns > 0) {
        shared_touch(engine, link);
        message.sending_ns = on_the_wire(bytes) / planned->bytes_per_ns;
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

/* Of the request or the reply. */
static double draw_bytes(struct engine *engine, int link, int draw) {
    bool matters = engine->plan->objects[link].bytes_per_ns > 0;
    return matters ? draws_one(engine, draw, &engine->objects[link].random) : 0;
}

static void send_request(struct engine *engine, struct message request) {
    const struct plan_object *planned = &engine->plan->objects[request.queue];
    request.kind = MESSAGE_REQUEST;
    send(engine, planned->comes_by, request,
         draw_bytes(engine, planned->comes_by, planned->request_bytes));
}

void link_send_request(struct engine *engine, int queue, int client) {
    const struct plan_object *planned = &engine->plan->objects[queue];
    struct message message = {.birth_ns = engine->now_ns, .queue = queue, .client = client};
    if (planned->connects)
        send(engine, planned->comes_by, message, 0);
    else
        send_request(engine, message);
}

void link_send_reply(struct engine *engine, const struct message *reply) {
    const struct plan_object *planned = &engine->plan->objects[reply->queue];
    struct message sent = *reply;
    sent.kind = MESSAGE_REPLY;
    engine->replies_under_way++;
    send(engine, planned->goes_by, sent,
         draw_bytes(engine, planned->goes_by, planned->reply_bytes));
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

static bool take_any(struct engine *engine, int index, struct message *message) {
    struct shared *link = &engine->objects[index];
    if (link->under_way.n == 0 || ring_at(&link->under_way, 0)->due_ns > engine->now_ns)
        return false;
    *message = ring_take(&link->under_way);
    heap_remove(&engine->clock, link->event);
    arm(engine, link);
    return true;
}

/* A step of making the connection. */
static void connect_on(struct engine *engine, struct message message) {
    int back = engine->plan->objects[message.queue].goes_by;
    if (message.kind == MESSAGE_CONNECT && back != MODEL_NONE) {
        message.kind = MESSAGE_CONNECTED;
        send(engine, back, message, 0);
    } else {
        send_request(engine, message);
    }
}

bool link_take(struct engine *engine, int index, struct message *message) {
    while (take_any(engine, index, message)) {
        if (message->kind == MESSAGE_REQUEST || message->kind == MESSAGE_REPLY) {
            engine->replies_under_way -= message->kind == MESSAGE_REPLY;
            return true;
        }
        connect_on(engine, *message);
    }
    return false;
}

void link_reset(struct shared *link) {
    link->waiting.n = link->waiting.first = 0;
    link->under_way.n = link->under_way.first = 0;
}
