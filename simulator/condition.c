#include "simulator/condition.h"

#include "simulator/cpu.h"
#include "simulator/wait_account.h"
#include "simulator/wait_list.h"

static bool has_groups(const struct engine *engine, const struct shared *object) {
    return engine->plan->signals_wait && engine_planned(engine, object)->condition;
}

void condition_join(const struct engine *engine, struct thread *thread, struct shared *object,
                    int side) {
    thread->condition = has_groups(engine, object) ? &object->conditions[side] : NULL;
    if (thread->condition)
        thread->group = thread->condition->first_group + 1;
}

bool condition_admits(struct engine *engine, struct thread *waker, struct shared *object,
                      int side) {
    struct condition *condition = &object->conditions[side];
    const struct thread *sleeper = object->waiters[side].head;
    if (!waker || !sleeper->condition || sleeper->group == condition->first_group)
        return true;
    if (condition->leaving == 0) {
        condition->first_group++;
        return true;
    }
    if (waker->waits_since_ns >= 0) /* for what it has got meanwhile */
        wait_close(engine, waker, object);
    waker->phase = PHASE_SIGNAL;
    wait_list_append(&condition->signallers, waker);
    cpu_block(engine, waker);
    return false;
}

void condition_wake(struct thread *thread) {
    struct condition *condition = thread->condition;
    if (!condition)
        return;
    thread->is_leaving = thread->group == condition->first_group;
    if (thread->is_leaving)
        condition->leaving++;
    else
        thread->condition = NULL;
}

void condition_leave(struct engine *engine, struct thread *thread) {
    struct condition *condition = thread->condition;
    thread->condition = NULL;
    thread->is_leaving = false;
    if (--condition->leaving > 0)
        return;
    for (struct thread *signaller; (signaller = condition->signallers.head);) {
        wait_list_remove(signaller);
        cpu_wake(engine, signaller, thread);
    }
}
