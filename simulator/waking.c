#include "simulator/waking.h"

#include "simulator/condition.h"
#include "simulator/cpu.h"
#include "simulator/wait_account.h"
#include "simulator/wait_list.h"

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
