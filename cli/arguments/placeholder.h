/* {threads} and its kin in the arguments of a program to validate. */
#ifndef PERSIK_CLI_ARGUMENTS_PLACEHOLDER_H
#define PERSIK_CLI_ARGUMENTS_PLACEHOLDER_H

#include <stdbool.h>

#include "cli/arguments/sweep.h"

/* Whether any argument holds {threads} or {POOL} for one of the sweep's pools. */
bool placeholder_used(char *const *arguments, const struct thread_choice *choice);

/* The arguments, NULL-terminated, with {threads}, {cores} and {POOL} replaced by numbers wherever
 * they stand; other braces are left alone. {threads} stands for itself where the choice is by pool.
 */
char **placeholder_fill(char *const *arguments, const struct thread_choice *choice, int cores);
void placeholder_free(char **arguments);

/* A further name, and what it stands for. */
struct placeholder_value {
    const char *name;
    int value; /* 0: nothing, it is left as it stands */
};

/* The same of one text, with `n` further names; the caller frees it. */
char *placeholder_fill_text(const char *text, const struct thread_choice *choice, int cores,
                            const struct placeholder_value *more, size_t n);

#endif
