/* Starts the program so that it can be watched from its first instruction. */
#ifndef PERSIK_SAMPLER_LAUNCH_H
#define PERSIK_SAMPLER_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
    pid_t pid;
    int gate;   /* write end: the child execs when a byte comes */
    int report; /* read end: errno of a failed exec; end of file when it worked */
};

/* Forks a child that waits in front of exec. `quiet`: nobody wants its output (host/rerun.h). */
int sampler_launch_prepare(struct launch *launch, char *const *args, bool quiet,
                           struct error *error);

/* Lets it exec. -1 and `error` when that fails; the child is gone then. */
int sampler_launch_release(struct launch *launch, const char *program, struct error *error);

/* Ends a prepared child that shall not run after all. */
void sampler_launch_cancel(struct launch *launch);

#endif
