/* How a run of the program under test ended: told to people, and what persik makes of it. */
#ifndef PERSIK_BASE_RUN_END_H
#define PERSIK_BASE_RUN_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct run_end {
    bool known;              /* false: there was no such run yet */
    int status;              /* as wait(2) gives it */
    int signal;              /* the last one sent to us that we passed on to it; 0 none */
    uint64_t run_ns, cpu_ns; /* cpu_ns: user and system */
    size_t n_threads;        /* all that it ever had; 0: not known */
};

/* Did it end by itself, and other than with exit status 0? Who is told to end may end anyhow. */
bool run_end_failed(const struct run_end *end);

/* "exit status 3", "killed by signal 11 (Segmentation fault)": a wait(2) status for people. */
void run_end_describe(int status, char *text, int bytes);

/* What a shell would give: the exit status, or 128 + the signal's number. */
int run_end_exit_status(int status);

/* Sets `error`, with which persik ends with the program's own status: the first run of `program`
 * failed. Always returns -1. */
int run_end_refuse(const char *program, int status, struct error *error);

#endif
