/* What could explain an object: a program of guarded commands, an operation for each kind of
 * critical section. The source proposes such programs, and templates.c has those of well-known
 * objects in the same form; replay.h holds either against the trace. */
#ifndef PERSIK_MODELGEN_SYNC_COMMAND_PROGRAM_H
#define PERSIK_MODELGEN_SYNC_COMMAND_PROGRAM_H

#include "formats/facts.h"
#include "formats/trace.h"
#include "model/guarded_commands.h"

#define COMMAND_PROGRAM_FRAMES 4 /* callers in which the source may have put a section */

/* What one kind of critical section does; its number is that of the proposal's section. */
struct operation {
    struct command *commands;
    int n_commands;
    bool waits; /* a thread may wait in it */
};

struct command_program {
    size_t n_variables;
    struct value *initial; /* of each variable, shared or every thread's own */
    int number;            /* the own variable that has the number of the visit; -1: none */
    size_t n_operations;
    struct operation *operations;
};

/* `threads`: their number in the run, for variables that follow it. What does not parse is unknown.
 * command_program_free() ends it. */
struct command_program command_program_of(const struct facts_monitor *proposal, double threads);
void command_program_free(struct command_program *program);

/* Of each of the proposal's variables, whether every thread has one of its own. The caller frees.
 */
bool *command_program_own_variables(const struct facts_monitor *proposal);

/* The source's section that was entered at `context`; NULL when it is none of the proposal's. */
const struct facts_section *command_program_section_at(const struct trace *trace, uint32_t context,
                                                       const struct facts_monitor *proposal);

#endif
