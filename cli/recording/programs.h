/* Other programs that the command starts: its own parts, dot, gnuplot, the program under test. */
#ifndef PERSIK_CLI_RECORDING_PROGRAMS_H
#define PERSIK_CLI_RECORDING_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "host/pace.h"

/* Path of a part of persik (libpersik-probe.so, persik-analyze): beside the persik that runs (build
 * folder) or in ../lib/persik (installed). Freed by the caller; NULL and `error` when missing. */
char *programs_find_part(const char *name, struct error *error);

/* Whether execvp would find it. */
bool programs_exist(const char *name);

/* The file that execvp would run, freed by the caller; NULL and `error` when there is none. */
char *programs_resolve(const char *name, struct error *error);

/* Runs argv to its end, with the descriptors `input` (-1: nothing to read) and `output` (-1: ours).
 * 0 when it exited with 0; else -1 and `error`, which repeats the first line of what it said on
 * stderr.
 */
int programs_run(char *const *argv, int input, int output, struct error *error);

/* A nameless file to be written, rewound and given to programs_run() as its input; NULL and errno.
 */
FILE *programs_input(void);

/* One run of the program under test. */
struct program_run {
    uint64_t run_ns;          /* from before the fork to the exit seen */
    uint64_t cpu_ns;          /* user and system, all threads */
    uint64_t foreign_ns;      /* CPU time of everybody else on its cores meanwhile, ... */
    uint64_t stolen_ns;       /* ... and what of it guests of a virtual machine's host had */
    double delay_ns;          /* its threads were ready without having a core; < 0: not known */
    uint64_t longest_cpu_ns;  /* of one thread, as far as was seen */
    struct pace_reading pace; /* how fast the cores were meanwhile; 0: nobody looked */
};

/* How many CPUs this process may use. */
int programs_allowed_cores(void);

/* Runs argv on the first `cores` of the allowed CPUs, with the input of host/rerun.h and no output,
 * to its end or as a server (host/served_run.h). 0, also when it failed or died: `status` is as
 * wait(2) gives it; or -1 and `error` when it cannot start, did not serve as planned or a signal
 * came (base/interrupt.h). */
int programs_measure(char *const *argv, int cores, struct program_run *run, int *status,
                     struct error *error);

#endif
