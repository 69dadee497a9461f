/* Programs of guarded commands written as text, as templates.c has them:
 *
 *   variables   "parties arrived generation own:mine", all 0 at the start; own: every thread's;
 *               own:number is that of the visit
 *   operations  "mine = generation; arrived == parties -> broadcast; wait while generation == mine"
 *
 * A command is an assignment, "signal", "broadcast" or "wait while PREDICATE", with a guard and
 * "->" before it where it does not always happen. Expressions have C's ||, &&, comparisons, +, -,
 * numbers and parentheses. */
#ifndef PERSIK_MODELGEN_SYNC_COMMAND_TEXT_H
#define PERSIK_MODELGEN_SYNC_COMMAND_TEXT_H

#include "modelgen/sync/command_program.h"

/* `operations`: `n` of them. The texts are part of this program: a mistake in them ends it.
 * Commands in a row with the same guard are in one branch. command_program_free() ends it. */
struct command_program command_program_of_text(const char *variables, const char *const *operations,
                                               size_t n);

#endif
