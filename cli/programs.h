/* Other programs that the command starts: its own parts, dot, gnuplot, the program under test. */
#ifndef PERSIK_CLI_PROGRAMS_H
#define PERSIK_CLI_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/pace.h"

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
    uint64_t foreign_ns;      /* CPU time of everybody else on its cores meanwhile */
    struct pace_reading pace; /* how fast the cores were meanwhile */
    double sharing; /* how many times as long pieces of work take while all these cores compute as
                     * while one does (base/pace.h); 0: not known */
};

/* How many CPUs this process may use. */
int programs_allowed_cores(void);

/* Runs argv on the first `cores` of the allowed CPUs, with the input of base/rerun.h and no output.
 * 0, or -1 and `error` when it cannot start, fails or dies, or a signal came (base/interrupt.h). */
int programs_measure(char *const *argv, int cores, struct program_run *run, struct error *error);

/* "exit status 3", "killed by signal 11 (Segmentation fault)": a wait(2) status for people. */
void programs_describe_status(int status, char *text, int bytes);

#endif
