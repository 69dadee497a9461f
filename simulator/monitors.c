#include "simulator/monitors.h"

#include "simulator/condition.h"
#include "simulator/stalls.h"
#include "simulator/wait_account.h"
#include "simulator/waiting.h"
#include "simulator/waking.h"

static enum progress signal_one(struct engine *engine, struct thread *thread, struct shared *object,
                                int side) {
    if (!object->waiters[side].head)
        return PROGRESS_YES;
    if (!condition_admits(engine, thread, object, side))
        return PROGRESS_WAITS;
    shared_touch(engine, object);
    wait_wake(engine, thread, object->waiters[side].head);
    return PROGRESS_YES;
}

static enum progress execute(struct engine *engine, struct thread *thread, struct shared *object,
                             const struct command_stop *stop) {
    int condition = stop->command->condition;
    if (!value_is_true(stop->guard))
        return PROGRESS_YES;
    switch (stop->command->kind) {
    case COMMAND_WAIT:
        if (!value_is_true(stop->waits))
            return PROGRESS_YES;
        return wait_for(engine, thread, object, condition, PHASE_RETRY);
    case COMMAND_SIGNAL:
        return signal_one(engine, thread, object, condition);
    case COMMAND_BROADCAST:
        return wait_wake_all(engine, thread, object, condition);
    case COMMAND_UPDATE: /* carried out already */
        break;
    }
    return PROGRESS_YES;
}

/* Every expression had a value in all of the traced run: where one has none now, as a quotient by
 * zero, the model is asked for something that it cannot say. */
static void note_lost(struct engine *engine, struct thread *thread) {
    if (thread->commands.is_lost)
        stall_note(engine, thread, "an expression without a value");
    thread->commands.is_lost = false;
}

enum progress monitor_execute(struct engine *engine, struct thread *thread, struct shared *object) {
    const struct plan *plan = engine->plan;
    const struct plan_node *node = &plan->nodes[thread->node];
    const struct plan_section *section = &plan->sections[node->section];
    int first = plan->objects[node->object].first_variable;
    struct command_progress *progress = &thread->commands;
    if (thread->phase != PHASE_RETRY && thread->phase != PHASE_SIGNAL) {
        wait_open(engine, thread, object);
        *progress = commands_begin();
    }
    for (;; progress->at++) {
        struct command_stop stop =
            commands_next(plan->commands + section->first, section->n, progress,
                          engine->variables + first, thread->variables + first);
        note_lost(engine, thread);
        if (!stop.command)
            return value_is_true(progress->answer) ? PROGRESS_YES : PROGRESS_NO;
        if (execute(engine, thread, object, &stop) == PROGRESS_WAITS)
            return PROGRESS_WAITS;
    }
}
