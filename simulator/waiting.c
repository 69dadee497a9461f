#include "simulator/waiting.h"

#include <math.h>

#include "simulator/condition.h"
#include "simulator/cpu.h"
#include "simulator/mutexes.h"
#include "simulator/wait_account.h"
#include "simulator/wait_list.h"

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
        mutex_give_up(engine, thread, &engine->objects[mutex]);
    } else if (engine_planned(engine, object)->spins) {
        cpu_spin(engine, thread);
        return PROGRESS_WAITS;
    }
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
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
