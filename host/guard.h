/* Ends a server that persik has started when persik is killed and cannot do it.
 *
 * A small process that sleeps on a socket whose other end only persik holds. (PR_SET_PDEATHSIG
 * would not do: the kernel forgets it when the server changes its user, as many do.) */
#ifndef PERSIK_HOST_GUARD_H
#define PERSIK_HOST_GUARD_H

#include <sys/types.h>

#include "base/error.h"

struct guard {
    pid_t pid;               /* 0: there is none */
    int lifeline;            /* its end of the socket that persik holds */
    struct guarded *guarded; /* shared with it */
};

/* From now on, should persik die, `server` gets `stop_signal`, and after a while all that is left
 * of it and the processes below it is killed; the file `result` (NULL none) is removed, and its
 * folder. -1 and `error`: no room for a process. */
int guard_start(struct guard *guard, pid_t server, int stop_signal, const char *result,
                struct error *error);

/* The process group of a load, which is killed at once; 0: there is none. */
void guard_load(struct guard *guard, pid_t group);

/* The server has ended: so does the guard. */
void guard_end(struct guard *guard);

#endif
