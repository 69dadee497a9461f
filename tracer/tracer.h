/* Stage 3: one traced run.
 *
 * Out: a trace (formats/trace.h). The program runs unmodified with the probe library preloaded
 * (tracer/probe/), its scheduling and block I/O recorded from outside. Open collect.c and
 * collection.h first. */
#ifndef PERSIK_TRACER_TRACER_H
#define PERSIK_TRACER_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/run_end.h"
#include "formats/facts.h"
#include "formats/trace.h"
#include "formats/user_catalog.h"
#include "host/pace.h"

struct tracer_options {
    char *const *args; /* program and arguments, NULL-terminated */
    const char
        *directory;     /* persik.data folder, exists; the trace becomes DIRECTORY/trace.persik */
    const char *became; /* what they become by exec; NULL: nothing else, or not known */
    const char *probe_library; /* path of libpersik-probe.so */
    bool follow_children;
    bool block_io;                      /* record the block layer when permitted */
    const struct user_catalog *catalog; /* functions to wrap; NULL none */
    const struct facts *facts;          /* say which variables to look at; NULL none */
    bool evictions; /* some runs more, DIRECTORY/evictions-1.persik ...: what losing caches costs */
    bool steady; /* waits before each run until nothing slows the cores, and makes those that were
                  * slowed all the same again, a few times; the program's output is that of the
                  * first */
    bool quiet;  /* nobody wants the program's output, as in host/rerun.h */
    bool ignore_failure; /* go on after a first run that failed, or one that ended otherwise */
    const struct run_end *first;           /* the program's run before all of these; NULL none */
    const struct pace_reading *first_pace; /* of the cores in that run, which had no probes either
                                            * and is one that tells what they cost; NULL: it is
                                            * none */
    int plain_runs; /* untraced runs, before and after in turn, for the perturbation; may be 0, or
                     * one of enum plain_runs */
};

enum plain_runs {
    PLAIN_RUNS_ENOUGH = -1, /* two, or as many more of a short program as make the median sure */
    PLAIN_RUNS_IF_UNCLEAR =
        -2, /* one, unless the first run and the traced one leave nothing open */
};

/* Runs the program to its end (its stdin, stdout and stderr are left alone) and writes the trace.
 * Runs that did other work than the traced one are said (trace.meta.lacks) and left out. -1 and
 * `error`: no such program, not executable, static binary (nothing could be preloaded), no space
 * for the trace; and unless `ignore_failure`, with the program's exit status in `error`, when its
 * first run failed, or when the traced one ended otherwise than the first. Who was ended by a
 * signal that we passed on has not failed.
 * The first SIGINT, SIGTERM or SIGHUP goes to the program that runs, what was recorded is kept, and
 * nothing is run any more; -1 and `error` when it comes before the traced run (base/interrupt.h).
 */
int tracer_run(const struct tracer_options *options, struct error *error);

/* How many runs there will be, `first` included, of a program that takes `run_ns`, as far as that
 * is known (0: it is not). At most, with PLAIN_RUNS_IF_UNCLEAR; about, else. 0: nobody knows. */
size_t tracer_expected_runs(const struct tracer_options *options, double run_ns);

/* Before the first run: can `program` (as given by the user) be run and, with `probed`, be traced?
 * -1 and `error` when not. Runs nothing. */
int tracer_check_program(const char *program, bool probed, struct error *error);

/* Could the catalog's functions be traced in `program` (as given by the user)? -1 and `error` when
 * one is not to be found. Runs nothing. */
int tracer_check_catalog(const char *program, const struct user_catalog *catalog,
                         struct error *error);

/* Gives the trace the requests to disks of its threads from the files NAME.blktrace.CPU, which
 * `blktrace -o NAME` wrote during the recording, or from the text NAME (block_text.h), in the place
 * of those it has. Clock and threads tell whose they are, where they agree, else
 * cross-correlation; which way was taken, and the cause of each request, is added to the trace's
 * lacks. 0, or -1 and `error`: no such files, or none that can be held against this trace. */
int tracer_add_block_log(struct trace *trace, const char *name, struct error *error);

/* The files that `program` (as given by the user) is loaded from at its start besides its own, as
 * its dynamic loader finds them; it is not started. Both the paths and the array are the caller's
 * to free; none for what is no program. */
char **tracer_libraries(const char *program, size_t *n);

#endif
