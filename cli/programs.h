/* Other programs that the command starts: its own parts, dot, gnuplot, the program under test. */
#ifndef PERSIK_CLI_PROGRAMS_H
#define PERSIK_CLI_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pace.h"

/* Path of a part of persik (libpersik-probe.so, persik-analyze): beside the persik that runs (build
 * folder) or in ../lib/persik (installed). Freed by the caller; NULL and `error` when missing. */
char *programs_find_part(const char *name, struct error *error);

/* Whether execvp would find it. */
bool programs_exist(const char *name);

/* The file that execvp would run, freed by the caller; NULL and `error` when there is none. */
char *programs_resolve(const char *name, struct error *error);

/* Runs argv to its end, with stdout left alone or, not NULL, into the file `output`. 0 when it
 * exited with 0; else -1 and `error`, which repeats the first line of what it said on stderr. */
int programs_run(char *const *argv, const char *output, struct error *error);

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
 * 0, also when it failed or died: `status` is as wait(2) gives it; or -1 and `error`. */
int programs_measure(char *const *argv, int cores, struct program_run *run, int *status,
                     struct error *error);

#endif
