/* Countdowns of outstanding work: a semaphore that only the last of several threads releases, or a
 * word of memory that only the last one wakes another at, as of a std::latch.
 *
 * A thread hands out work items and waits; each thread that has done one decrements a count, and
 * the last one releases the semaphore. Which thread is the last differs from run to run, and in a
 * model of all workers each would decide by itself whether it is. So each item that is handed out
 * counts as outstanding, each that is done takes that back, and the thread waits until none is. */
#ifndef PERSIK_MODELGEN_REWRITE_COMPLETION_COUNTDOWNS_H
#define PERSIK_MODELGEN_REWRITE_COMPLETION_COUNTDOWNS_H

#include "modelgen/events/event_log.h"

/* Shows it so where in each round as many pieces are done before the release as were handed out:
 * releases of a semaphore, with the value -1 for a piece that is handed out, and takes with the
 * value 1 that wait for all of them. */
void completion_countdowns_as_semaphores(struct event_log *log);

#endif
