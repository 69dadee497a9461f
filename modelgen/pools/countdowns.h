/* Countdowns: a semaphore that only the last of several threads releases.
 *
 * A thread hands out pieces of work and waits; whoever has done one counts, and the last one
 * releases the semaphore. Who is the last differs from run to run, and in a model of all workers
 * each would decide by itself whether it is. So each piece that is handed out counts as
 * outstanding, each that is done takes that back, and the thread waits until none is. */
#ifndef PERSIK_MODELGEN_POOLS_COUNTDOWNS_H
#define PERSIK_MODELGEN_POOLS_COUNTDOWNS_H

#include <stdbool.h>
#include <stdint.h>

#include "modelgen/run/view.h"

/* Shows it so where in each round as many pieces are done before the release as were handed out:
 * releases of a semaphore, with the value -1 for a piece that is handed out, and takes with the
 * value 1 that wait for all of them. */
void countdowns_as_completions(struct view *view);

/* Is it the semaphore of such a countdown? */
bool countdowns_are_object(uint64_t address);

#endif
