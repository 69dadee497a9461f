#include "simulator/waiting.h"

#include <math.h>

#include "simulator/condition.h"
#include "simulator/cpu.h"
#include "simulator/locks.h"

void wait_list_append(struct wait_list *list, struct thread *thread) {
    thread->waits_in = list;
    thread->next = NULL;
    thread->previous = list->tail;
    if (list->tail)
        list->tail->next = thread;
    else
        list->head = thread;
    list->tail = thread;
    list->n++;
}

void wait_list_push(struct wait_list *list, struct thread *thread) {
    thread->waits_in = list;
    thread->previous = NULL;
    thread->next = list->head;
    if (list->head)
        list->head->previous = thread;
    else
        list->tail = thread;
    list->head = thread;
    list->n++;
}

void wait_list_remove(struct thread *thread) {
    struct wait_list *list = thread->waits_in;
    if (!list)
        return;
    if (thread->previous)
        thread->previous->next = thread->next;
    else
        list->head = thread->next;
    if (thread->next)
        thread->next->previous = thread->previous;
    else
        list->tail = thread->previous;
    list->n--;
    thread->waits_in = NULL;
}

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
    double length =
        object->kind == OBJECT_QUEUE ? (double)object->n_items : (double)count_waiting(object);
    object->length_ns += length * elapsed;
}

void wait_open(struct engine *engine, struct thread *thread, struct shared *object) {
    if (thread->phase == PHASE_RETRY)
        return;
    double timeout = engine->plan->nodes[thread->node].timeout_ns;
    thread->due_ns = timeout < 0 ? INFINITY : engine->now_ns + timeout;
    object->operations++;
}

enum progress wait_for(struct engine *engine, struct thread *thread, struct shared *object,
                       int side, enum thread_phase phase) {
    if (thread->due_ns <= engine->now_ns)
        return PROGRESS_NO;
    shared_touch(engine, object);
    bool is_first = thread->waits_since_ns < 0;
    if (is_first) {
        thread->waits_since_ns = engine->now_ns;
        object->waits++;
    }
    condition_join(engine, thread, object, side);
    if (is_first || thread->condition || object->kind == OBJECT_MONITOR)
        wait_list_append(&object->waiters[side], thread);
    else
        wait_list_push(&object->waiters[side], thread);
    if (isfinite(thread->due_ns))
        heap_set(&engine->clock, thread->id, thread->due_ns);
    thread->phase = phase;
    int mutex = engine->plan->nodes[thread->node].mutex;
    if (mutex != MODEL_NONE) {
        thread->after_retake = phase;
        thread->phase = PHASE_RETAKE;
        lock_give_up(engine, thread, &engine->objects[mutex]);
    } else if (engine_planned(engine, object)->spins) {
        cpu_spin(engine, thread);
        return PROGRESS_WAITS;
    }
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}

void wait_close(struct engine *engine, struct thread *thread, struct shared *object) {
    object->wait_ns += engine->now_ns - thread->waits_since_ns;
    thread->waits_since_ns = -1;
}

void wait_drop_claim(struct thread *thread, struct shared *object, int side) {
    object->announced[side] -= thread->claim;
    thread->claim = 0;
}

void wait_wake(struct engine *engine, struct thread *waker, struct thread *sleeper) {
    wait_list_remove(sleeper);
    heap_remove(&engine->clock, sleeper->id);
    condition_wake(sleeper);
    if (sleeper->is_spinning) { /* it sees for itself */
        cpu_stop_spinning(engine, sleeper);
        return;
    }
    cpu_wake(engine, sleeper, waker);
}

void wait_grant(struct engine *engine, struct thread *waker, struct thread *sleeper) {
    sleeper->granted = OUTCOME_YES;
    if (sleeper->phase != PHASE_RETAKE)
        sleeper->phase = PHASE_GRANTED;
    wait_wake(engine, waker, sleeper);
}

enum progress wait_wake_all(struct engine *engine, struct thread *waker, struct shared *object,
                            int side) {
    shared_touch(engine, object);
    while (object->waiters[side].head) {
        if (!condition_admits(engine, waker, object, side))
            return PROGRESS_WAITS;
        wait_wake(engine, waker, object->waiters[side].head);
    }
    return PROGRESS_YES;
}

/* Those, too, who sleep on the same condition variable for something else. */
static enum progress broadcast(struct engine *engine, struct thread *waker, struct shared *object) {
    struct shared *next = object;
    do {
        if (wait_wake_all(engine, waker, next, SIDE_TAKERS) == PROGRESS_WAITS)
            return PROGRESS_WAITS;
        next = &engine->objects[engine_planned(engine, next)->condition_next];
    } while (next != object);
    return PROGRESS_YES;
}

enum progress wait_announce(struct engine *engine, struct thread *waker, struct shared *object,
                            int side, double available) {
    struct wait_list *list = &object->waiters[side];
    const struct plan_object *planned = engine_planned(engine, object);
    if (planned->wakes_all && side == SIDE_TAKERS) {
        bool is_too_little = planned->when_enough && list->head && available < list->head->wanted;
        return is_too_little ? PROGRESS_YES : broadcast(engine, waker, object);
    }
    while (list->head && available - object->announced[side] >= list->head->wanted) {
        if (!condition_admits(engine, waker, object, side))
            return PROGRESS_WAITS;
        struct thread *sleeper = list->head;
        shared_touch(engine, object);
        sleeper->claim = sleeper->wanted;
        object->announced[side] += sleeper->claim;
        wait_wake(engine, waker, sleeper);
    }
    return PROGRESS_YES;
}

/* A wait that another thread would have completed (PHASE_GRANTED) is looked at again instead. */
void wait_time_out(struct engine *engine, struct thread *thread) {
    struct shared *object = &engine->objects[engine->plan->nodes[thread->node].object];
    shared_touch(engine, object);
    if (thread->phase == PHASE_RETAKE)
        thread->after_retake = PHASE_RETRY;
    else
        thread->phase = PHASE_RETRY;
    wait_list_remove(thread);
    thread->condition = NULL;
    if (thread->is_spinning)
        cpu_stop_spinning(engine, thread);
    else
        cpu_wake(engine, thread, NULL);
}
