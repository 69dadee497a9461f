#include "model/guarded_commands.h"

#include <string.h>

static const struct value unknown = {0, false};

struct command_progress commands_begin(void) {
    return (struct command_progress){.branch = COMMAND_ALWAYS, .answer = value_of(1)};
}

int command_branch(int number, const char *guard, const char *last_guard, int last_branch) {
    if (!guard)
        return COMMAND_ALWAYS;
    return last_guard && strcmp(guard, last_guard) == 0 ? last_branch : number;
}

static struct value guard_of(const struct command *command, struct command_progress *progress,
                             const struct value *shared, const struct value *own) {
    if (command->branch == COMMAND_ALWAYS)
        progress->held = value_of(1);
    else if (command->branch != progress->branch)
        progress->held = postfix_value(&command->guard, shared, own);
    progress->branch = command->branch;
    progress->is_lost |= !progress->held.known;
    if (command->answers)
        progress->answer = progress->held;
    if (value_is_true(progress->held) && progress->at < COMMANDS_REMEMBERED)
        progress->held_commands |= (uint64_t)1 << progress->at;
    return progress->held;
}

static void update(const struct command *command, struct value guard, struct value next,
                   struct value *shared, struct value *own) {
    struct value *target = &(command->is_own ? own : shared)[command->variable];
    bool is_same = next.known && target->known && next.number == target->number;
    *target = guard.known || is_same ? next : unknown; /* it may have happened or not */
}

struct command_stop commands_next(const struct command *commands, int n_commands,
                                  struct command_progress *progress, struct value *shared,
                                  struct value *own) {
    for (; progress->at < n_commands; progress->at++) {
        const struct command *command = &commands[progress->at];
        struct value guard = guard_of(command, progress, shared, own), value = unknown;
        if (value_is_false(guard))
            continue;
        if (command->kind == COMMAND_UPDATE || command->kind == COMMAND_WAIT) {
            value = postfix_value(&command->value, shared, own);
            progress->is_lost |= !value.known;
        }
        if (command->kind != COMMAND_UPDATE)
            return (struct command_stop){command, guard, value};
        update(command, guard, value, shared, own);
    }
    return (struct command_stop){0};
}

void commands_free(struct command *commands, size_t n_commands) {
    for (size_t i = 0; i < n_commands; i++) {
        postfix_free(&commands[i].guard);
        postfix_free(&commands[i].value);
    }
}
