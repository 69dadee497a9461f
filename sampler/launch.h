/* Starts the program so that it can be watched from its first instruction. */
#ifndef PERSIK_SAMPLER_LAUNCH_H
#define PERSIK_SAMPLER_LAUNCH_H

#include <sys/types.h>

#include "base/error.h"

struct launch {
    pid_t pid;
    int gate;   /* write end: the child execs when a byte comes */
    int report; /* read end: errno of a failed exec; end of file when it worked */
};

/* Forks a child that waits in front of exec. */
int sampler_launch_prepare(struct launch *launch, char *const *args, struct error *error);

/* Lets it exec. -1 and `error` when that fails; the child is gone then. */
int sampler_launch_release(struct launch *launch, const char *program, struct error *error);

/* Ends a prepared child that shall not run after all. */
void sampler_launch_cancel(struct launch *launch);

/* Until sampler_launch_end_forwarding(), SIGINT and SIGTERM sent to persik go to the program
 * instead. (What is typed on the terminal reaches the program by itself.) The end gives the last
 * one; 0 none. */
void sampler_launch_begin_forwarding(const struct launch *launch);
int sampler_launch_end_forwarding(void);

#endif
