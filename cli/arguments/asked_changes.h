/* The changes of a recorded run that a command line asks for: --scale, --set and --cores. */
#ifndef PERSIK_CLI_ARGUMENTS_ASKED_CHANGES_H
#define PERSIK_CLI_ARGUMENTS_ASKED_CHANGES_H

#include <argp.h>

#include "cli/arguments/change.h"

struct asked_changes {
    struct changes changes;
    int cores; /* 0: as many as in the run */
};

/* Child parser; its input is a struct asked_changes *, which it empties first. What a recorded run
 * cannot be asked is a usage error. changes_free() ends the list. */
extern const struct argp asked_changes_argp;

#endif
