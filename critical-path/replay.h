/* The recorded steps once more, in the order that comes about by itself: locks go to who comes
 * first, items and permits to the next one who takes, cores to threads that are ready. What waiting
 * costs is taken from the run. Private to this room.
 *
 * A mutex under which threads wait for conditions guards what no record tells: its critical
 * sections keep the order that they had. But who comes to such a section first, or to a queue, goes
 * on as who came there first in the run, where both run the same routine and are at the same call:
 * so an item goes to the worker that is free. */
#ifndef PERSIK_CRITICAL_PATH_REPLAY_H
#define PERSIK_CRITICAL_PATH_REPLAY_H

#include "critical-path/replay_change.h"
#include "critical-path/replayed.h"
#include "formats/dependencies.h"

/* There must be steps. Time: steps * log threads. replayed_free() ends it. */
struct replayed replay(const struct dependencies *all, const struct replay_change *change);
void replayed_free(struct replayed *replayed);

#endif
