#include "simulator/wait_account.h"

#include <math.h>

static uint32_t count_waiting(const struct shared *object) {
    uint32_t n = 0;
    for (int side = 0; side < object->n_sides; side++)
        n += object->waiters[side].n;
    return n;
}

static bool is_busy(const struct shared *object) {
    switch (object->kind) {
    case OBJECT_MUTEX:
    case OBJECT_SPIN:
        return object->owner;
    case OBJECT_DISK:
        return object->being_served > 0;
    case OBJECT_RWLOCK:
        return object->owner || object->readers > 0;
    case OBJECT_TOKENS:
        return object->amount <= 0;
    case OBJECT_QUEUE:
    case OBJECT_LINK:
        return object->n_items > 0;
    case OBJECT_FLAG:
    case OBJECT_BARRIER:
    case OBJECT_ORDER:
        return object->waiters[SIDE_FIRST].n > 0;
    case OBJECT_MONITOR:
        return count_waiting(object) > 0;
    }
    return false;
}

void shared_touch(const struct engine *engine, struct shared *object) {
    double elapsed = engine->now_ns - object->touched_ns;
    if (elapsed <= 0)
        return;
    object->touched_ns = engine->now_ns;
    if (is_busy(object))
        object->busy_ns += elapsed;
    bool has_items = object->kind == OBJECT_QUEUE || object->kind == OBJECT_LINK;
    double length = has_items ? (double)object->n_items : (double)count_waiting(object);
    object->length_ns += length * elapsed;
}

void wait_open(struct engine *engine, struct thread *thread, struct shared *object) {
    if (thread->phase == PHASE_RETRY)
        return;
    double timeout = engine->plan->nodes[thread->node].timeout_ns;
    thread->due_ns = timeout < 0 ? INFINITY : engine->now_ns + timeout;
    object->operations++;
}

void wait_close(struct engine *engine, struct thread *thread, struct shared *object) {
    object->wait_ns += engine->now_ns - thread->waits_since_ns;
    thread->waits_since_ns = -1;
}

void wait_drop_claim(struct thread *thread, struct shared *object, int side) {
    object->announced[side] -= thread->claim;
    thread->claim = 0;
}
