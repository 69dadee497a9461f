#include "simulator/monitors.h"

#include "simulator/condition.h"

/* A thread in the middle of its statements: where its node's values are. */
struct scope {
    struct engine *engine;
    struct thread *thread;
    struct shared *object;
    struct value *shared, *own;
};

/* What has no value, as a quotient by zero, was known in all of the traced run: the model is asked
 * for what it cannot say. */
static double number_of(struct scope *scope, const struct postfix *program) {
    struct value value = postfix_value(program, scope->shared, scope->own);
    if (!value.known)
        engine_note_stall(scope->engine, scope->thread, "an expression without a value");
    return value.number;
}

/* Statements in a row under one guard stand in one branch, which is decided once: the first of them
 * may change what the guard looks at. */
static bool is_in_branch(struct scope *scope, const struct plan_statement *statement) {
    struct execution *execution = &scope->thread->execution;
    if (statement->branch != PLAN_NONE && statement->branch != execution->branch)
        execution->holds = number_of(scope, &statement->guard) != 0;
    execution->branch = statement->branch;
    if (statement->answers)
        execution->answer = execution->holds;
    return statement->branch == PLAN_NONE || execution->holds;
}

static enum progress signal_one(struct scope *scope, int side) {
    if (!scope->object->waiters[side].head)
        return PROGRESS_YES;
    if (!condition_admits(scope->engine, scope->thread, scope->object, side))
        return PROGRESS_WAITS;
    shared_touch(scope->engine, scope->object);
    wait_wake(scope->engine, scope->thread, scope->object->waiters[side].head);
    return PROGRESS_YES;
}

static enum progress execute(struct scope *scope, const struct plan_statement *statement) {
    struct value *variables = statement->is_own ? scope->own : scope->shared;
    switch (statement->kind) {
    case STATEMENT_UPDATE:
        variables[statement->variable] = value_of(number_of(scope, &statement->value));
        return PROGRESS_YES;
    case STATEMENT_WAIT:
        if (number_of(scope, &statement->value) == 0)
            return PROGRESS_YES;
        return wait_for(scope->engine, scope->thread, scope->object, statement->condition,
                        PHASE_RETRY);
    case STATEMENT_SIGNAL:
        return signal_one(scope, statement->condition);
    case STATEMENT_BROADCAST:
        return wait_wake_all(scope->engine, scope->thread, scope->object, statement->condition);
    }
    return PROGRESS_YES;
}

enum progress monitor_execute(struct engine *engine, struct thread *thread, struct shared *object) {
    const struct plan *plan = engine->plan;
    const struct plan_node *node = &plan->nodes[thread->node];
    const struct plan_section *section = &plan->sections[node->section];
    int first = plan->objects[node->object].first_variable;
    struct scope scope = {engine, thread, object, engine->variables + first,
                          thread->variables + first};
    struct execution *execution = &thread->execution;
    if (thread->phase != PHASE_RETRY && thread->phase != PHASE_SIGNAL) {
        wait_open(engine, thread, object);
        *execution = (struct execution){.branch = PLAN_NONE, .answer = true};
    }
    for (; execution->at < section->n; execution->at++) {
        const struct plan_statement *statement = &plan->statements[section->first + execution->at];
        if (is_in_branch(&scope, statement) && execute(&scope, statement) == PROGRESS_WAITS)
            return PROGRESS_WAITS;
    }
    return execution->answer ? PROGRESS_YES : PROGRESS_NO;
}
