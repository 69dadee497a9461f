/* Stage 1: stacks of all threads of one run, running and blocked.
 *
 * Out: DIRECTORY/sample.json (formats/sample.h) and DIRECTORY/stacks.folded (flame graphs). */
#ifndef PERSIK_SAMPLER_SAMPLER_H
#define PERSIK_SAMPLER_SAMPLER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/run_end.h"
#include "host/pace.h"

struct sampler_options {
    char *const *args;         /* program and arguments, NULL-terminated */
    const char *directory;     /* persik.data folder, exists */
    double rate_hz;            /* 0 = 100 */
    struct run_end *end;       /* gets how the run ended; NULL: not wanted */
    struct pace_reading *pace; /* gets how fast the cores were; NULL: not wanted */
    bool quiet;                /* a run follows whose output is shown: as in host/rerun.h */
    bool may_leave;            /* as in host/served_run.h: a traced run follows */
};

/* Runs the program to its end, or as a server (host/served_run.h), and samples it. The program is
 * never stopped inside a system call that a stop would make fail. Returns 0 also when the program
 * itself failed (sample.json tells); -1 and `error`: no such program, not executable, sampling not
 * permitted. */
int sampler_run(const struct sampler_options *options, struct error *error);

#endif
