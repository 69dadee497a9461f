/* Threads of our own on chosen cores. */
#ifndef PERSIK_HOST_CORES_H
#define PERSIK_HOST_CORES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Numbers of the cores that this process may use, ascending, allocated; `*n` 0: not known. */
int *cores_allowed(size_t *n);

#define CORES_USUAL_PRIORITY 0

/* Starts a thread that stays on the core. With a `priority` from 1 on it is a real-time one
 * (SCHED_FIFO), to which nothing else on the core is preferred but higher ones. False: it could not
 * be started. */
bool cores_start(pthread_t *thread, int core, int priority, void *(*routine)(void *),
                 void *context);

#endif
