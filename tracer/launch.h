/* Starts the program, waits for it, passes signals on to it. */
#ifndef PERSIK_TRACER_LAUNCH_H
#define PERSIK_TRACER_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
    const char *path;
    char *const *args;
    char *const *environment; /* NULL: ours */
    bool may_leave;           /* as in host/served_run.h: a traced run follows */
    bool quiet;               /* nobody wants its output: see rerun_aside() */
    uint64_t one_core_ns;     /* above 0: it has one core only, for so long (host/core_hold.h) */
    /* Started by launch_prepare(). */
    pid_t pid;
    int go, failed; /* pipes: to let it exec; errno of a failed exec */
    /* Known after launch_finish(). */
    uint64_t start_mono_ns, end_mono_ns;
    uint64_t cpu_ns;          /* user and system, with the children that it waited for */
    uint64_t children_cpu_ns; /* of these children, in ticks of the clock */
    int status;               /* as wait(2) gives it */
    bool released;            /* it took longer than one_core_ns, and got all cores back */
    bool unserved;            /* why launch_finish() failed: a server did not serve as planned */
    int signal; /* that came for us meanwhile and ends all runs (base/interrupt.h); 0 none */
};

/* Forks a child that waits before its exec, so that it can be attached to. -1 and `error` when it
 * cannot, or no run is to be begun any more. */
int launch_prepare(struct launch *launch, struct error *error);

/* Lets it exec and waits for its end; a server's as host/served_run.h says. Signals go to it, see
 * base/interrupt.h. -1 and `error` when the exec failed, or a server did not serve as planned. */
int launch_finish(struct launch *launch, struct error *error);

#endif
