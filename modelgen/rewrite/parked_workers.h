/* Workers that park: each waits on a semaphore of its own until a thread that has work wakes it.
 *
 * Waiting work and waiting workers are matched by the side that comes second: a thread that brings
 * work wakes a parked worker; when none is parked, the work is kept until a worker, or a thread
 * that does only this, finds it and wakes one. Which worker that is, and which thread wakes it,
 * depends on how many workers there are. It does not matter, as each work item wakes one worker
 * that has nothing else to do: together the semaphores are one, which each bringer of work
 * releases, at once or later. */
#ifndef PERSIK_MODELGEN_REWRITE_PARKED_WORKERS_H
#define PERSIK_MODELGEN_REWRITE_PARKED_WORKERS_H

#include "modelgen/events/event_log.h"

/* Shows it so where that explains each time a worker was woken. */
void parked_workers_as_one(struct event_log *log);

#endif
