#include "modelgen/sync/source_replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* "struct queue" of "struct queue.count"; all globals are one. */
static size_t owner_length(const char *path) {
    const char *dot = strrchr(path, '.');
    if (strncmp(path, "global:", 7) == 0)
        return 7;
    return dot ? (size_t)(dot - path) : strlen(path);
}

/* Under a lock that is not theirs, variables of a record may be those of any of many. */
static bool belong_to_mutex(const struct facts_monitor *proposal) {
    size_t length = proposal->mutex ? owner_length(proposal->mutex) : 0;
    for (size_t v = 0; v < proposal->n_variables; v++) {
        const struct facts_variable *variable = &proposal->variables[v];
        bool of_record = strncmp(variable->name, "struct ", 7) == 0;
        bool same = length > 0 && owner_length(variable->name) == length &&
                    strncmp(variable->name, proposal->mutex, length) == 0;
        if (of_record && !variable->local && !same && variable->initial.text)
            return false;
    }
    return proposal->n_variables > 0;
}

int *source_replay_roles(const struct trace *trace, const struct sections *sections,
                         const struct facts_monitor *proposal, int mutex) {
    int *roles = memory_alloc(sections->n_sections, sizeof *roles);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        const struct trace_record *lock =
            &trace->threads[section->thread].records[section->lock_record];
        const struct facts_section *found =
            section->mutex == mutex ? command_program_section_at(trace, lock->context, proposal)
                                    : NULL;
        roles[s] = found ? (int)(found - proposal->sections) : HISTORY_NO_ROLE;
    }
    return roles;
}

struct tally source_replay(const struct sections *sections, const struct facts_monitor *proposal,
                           int mutex, const int *roles, double threads, replay_trail *trails) {
    if (!belong_to_mutex(proposal))
        return (struct tally){0};
    struct command_program program = command_program_of(proposal, threads);
    struct object_history history = object_history_of_one(sections, mutex);
    object_history_bind(&history, roles);
    const struct replay replay = {.sections = sections,
                                  .history = &history,
                                  .program = &program,
                                  .most_violations = INFINITY,
                                  .trails = trails};
    struct tally tally = replay_run(&replay, NULL);
    free(history.items);
    command_program_free(&program);
    return tally;
}
