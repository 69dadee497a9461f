#include "modelgen/sync/command_program.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"

bool *command_program_own_variables(const struct facts_monitor *proposal) {
    bool *is_own = memory_alloc(proposal->n_variables, sizeof *is_own);
    for (size_t v = 0; v < proposal->n_variables; v++)
        is_own[v] = proposal->variables[v].local;
    return is_own;
}

/* A change by or to a constant is written in postfix, too. */
static void parse_value(const struct facts_step *step, size_t n_variables, const bool *is_own,
                        struct postfix *value) {
    char *text = step->kind != STEP_UPDATE || step->change == CHANGE_OTHER ? NULL
                 : step->change == CHANGE_SET
                     ? memory_format("%.17g", step->by)
                     : memory_format("$%zu %.17g +", step->variable, step->by);
    postfix_parse(text ? text : step->value.postfix, n_variables, is_own, value);
    free(text);
}

static struct command compile(const struct facts_monitor *proposal, const bool *is_own,
                              const struct facts_step *step) {
    static const enum command_kind kinds[] = {[STEP_UPDATE] = COMMAND_UPDATE,
                                              [STEP_WAIT] = COMMAND_WAIT,
                                              [STEP_SIGNAL] = COMMAND_SIGNAL,
                                              [STEP_BROADCAST] = COMMAND_BROADCAST};
    struct command command = {.kind = kinds[step->kind],
                              .variable = (int)step->variable,
                              .is_own = step->kind == STEP_UPDATE && is_own[step->variable],
                              .timed = step->timed};
    postfix_parse(step->guard.postfix, proposal->n_variables, is_own, &command.guard);
    parse_value(step, proposal->n_variables, is_own, &command.value);
    return command;
}

static struct operation operation_of(const struct facts_monitor *proposal, const bool *is_own,
                                     const struct facts_section *section) {
    struct operation operation = {.commands =
                                      memory_alloc(section->n_steps, sizeof *operation.commands),
                                  .n_commands = (int)section->n_steps};
    const char *last_guard = NULL;
    int branch = COMMAND_ALWAYS;
    for (size_t i = 0; i < section->n_steps; i++) {
        const struct facts_step *step = &section->steps[i];
        operation.commands[i] = compile(proposal, is_own, step);
        branch = command_branch((int)i, step->guard.text, last_guard, branch);
        operation.commands[i].branch = branch;
        operation.waits |= step->kind == STEP_WAIT;
        last_guard = step->guard.text;
    }
    return operation;
}

static struct value initial_value(const struct facts_amount *initial, double threads) {
    if (initial->follows_threads)
        return value_of(initial->factor * threads + initial->offset);
    return initial->constant ? value_of(initial->offset) : (struct value){0, false};
}

struct command_program command_program_of(const struct facts_monitor *proposal, double threads) {
    struct command_program program = {
        .n_variables = proposal->n_variables,
        .number = -1,
        .initial = memory_alloc(proposal->n_variables, sizeof *program.initial),
        .n_operations = proposal->n_sections,
        .operations = memory_alloc(proposal->n_sections, sizeof *program.operations)};
    bool *is_own = command_program_own_variables(proposal);
    for (size_t v = 0; v < proposal->n_variables; v++)
        program.initial[v] = initial_value(&proposal->variables[v].initial, threads);
    for (size_t s = 0; s < proposal->n_sections; s++)
        program.operations[s] = operation_of(proposal, is_own, &proposal->sections[s]);
    free(is_own);
    return program;
}

void command_program_free(struct command_program *program) {
    for (size_t s = 0; s < program->n_operations; s++) {
        commands_free(program->operations[s].commands, (size_t)program->operations[s].n_commands);
        free(program->operations[s].commands);
    }
    free(program->operations);
    free(program->initial);
}

const struct facts_section *command_program_section_at(const struct trace *trace, uint32_t context,
                                                       const struct facts_monitor *proposal) {
    if (context == TRACE_NO_CONTEXT)
        return NULL;
    const struct trace_context *calls = &trace->contexts[context];
    for (size_t i = 0; i < calls->n_frames && i < COMMAND_PROGRAM_FRAMES; i++)
        for (size_t s = 0; s < proposal->n_sections; s++)
            if (source_frame_is_at(&calls->frames[i], &proposal->sections[s].place))
                return &proposal->sections[s];
    return NULL;
}
