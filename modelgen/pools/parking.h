/* Workers that park: each waits on a semaphore of its own until whoever has work for it wakes it.
 *
 * Work that waits and workers that do are matched by whoever comes second: who brings work wakes a
 * worker that is parked; when none is, the work is kept until a worker, or a thread that does only
 * this, finds it and wakes one. Which worker that is, and who wakes it, depends on how many there
 * are. What does not is that each piece of work wakes one worker that has nothing else to do:
 * together the semaphores are one, which whoever brings work releases, at once or not. */
#ifndef PERSIK_MODELGEN_POOLS_PARKING_H
#define PERSIK_MODELGEN_POOLS_PARKING_H

#include <stdbool.h>
#include <stdint.h>

#include "modelgen/run/view.h"

/* Shows it so where that explains each time a worker was woken. */
void parking_as_one(struct view *view);

/* Is it the semaphore of such workers? */
bool parking_is_object(uint64_t address);

#endif
