/* A run of a server: it does not end by itself, and does nothing unless somebody asks.
 *
 * Who starts the program, watches it and waits for its end goes on as with any other. Beside it a
 * thread, the director, waits until the server is ready, has it serve, and tells it to end. What a
 * run is like is said once, as with base/hooks.h, for all of them. */
#ifndef PERSIK_HOST_SERVED_RUN_H
#define PERSIK_HOST_SERVED_RUN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct served_plan {
    const char *load;       /* shell command whose requests are served; NULL none */
    const char *result;     /* a file in a folder of its own, told to the load in
                             * $PERSIK_LOAD_RESULT; NULL none */
    const char *ready;      /* shell command that exits with 0 when the server is ready; NULL: it is
                             * when it listens */
    double ready_s, load_s; /* how long is waited for either at most */
    double duration_s;      /* without a load: how long it serves; 0: until SIGINT */
    int stop_signal;
    bool recorded; /* one process alone is: another one must not serve in its place */
};

/* The texts stay the caller's and must last. Without a load, a duration and a command that tells
 * when it is ready, any program may come: one that listens is a server, which serves until SIGINT;
 * all others are left alone. Without a plan all are. NULL: no plan. */
void served_run_set(const struct served_plan *plan);

/* How the last run ended. */
enum served_outcome {
    SERVED_NONE,    /* otherwise than by us */
    SERVED_PLANNED, /* the load or the duration was over */
    SERVED_BY_HAND, /* a signal sent to persik did, which counts as no interruption any more */
    SERVED_LEFT,    /* see served_run_begin() */
};
enum served_outcome served_run_outcome(void);

/* The CPU time that the load of the last run had on this machine; 0: there was none. */
double served_run_load_cpu_ns(void);

struct served_run;

/* The program, a child of ours that is not waited for yet, is about to start. `may_leave`: should
 * any program come, and this one turn out to listen while nobody talks to it, it is ended, for a
 * run of another kind is to have the requests. NULL: there is nothing to do; so it is when there is
 * no room for a thread, with a warning. */
struct served_run *served_run_begin(pid_t program, const char *name, bool may_leave);

/* After its end, with its status as wait(2) gives it. A server that ended because we told it to has
 * not failed, however it ended: `*status` becomes 0. -1 and `error`: it did not serve as planned,
 * it died, was never ready, the load failed. Frees it; of NULL it does nothing. */
int served_run_end(struct served_run *run, int *status, struct error *error);

#endif
