/* A user's shell command that runs beside a server: in a process group of its own, so that the
 * terminal's Ctrl-C does not reach it, and all of it can be ended. Its input is empty. */
#ifndef PERSIK_HOST_SHELL_COMMAND_H
#define PERSIK_HOST_SHELL_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct shell_command {
    pid_t pid;  /* its group has the same number */
    int handle; /* of pidfd_open(2): its end is seen by polling it */
};

/* Where what it prints goes. */
enum shell_output { SHELL_TO_STDERR, SHELL_TO_NULL };

/* Starts `sh -c TEXT`; with `variable` ("NAME=value", NULL none) in its environment. -1 and
 * `error`. */
int shell_command_start(struct shell_command *command, const char *text, const char *variable,
                        enum shell_output output, struct error *error);

/* Kills what is left of its group, waits for it, and returns its status as wait(2) gives it.
 * `cpu_ns`: the CPU time that it and those that it has waited for had; NULL: nobody asks. */
int shell_command_end(struct shell_command *command, double *cpu_ns);

#endif
