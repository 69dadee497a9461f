/* Group commit: the thread that comes first does the work of all that have come until it begins, as
 * databases do that write what several threads commit at once: the others wait, and find it done;
 * or find that it is their turn to do it for those that have come meanwhile. */
#ifndef PERSIK_MODELGEN_SYNC_GROUP_COMMIT_REPLAY_H
#define PERSIK_MODELGEN_SYNC_GROUP_COMMIT_REPLAY_H

#include "modelgen/events/excluded_time.h"
#include "modelgen/sync/pattern_replay.h"

/* In the finder's history, all under one mutex. True: found, and added to the monitors' patterns.
 */
bool group_commit_replay_find(const struct finder *finder);

/* What leaders computed for those that they led: the simulator charges it by how many they are
 * then. The caller frees the items. */
struct excluded_time group_commit_replay_excluded(const struct trace *trace,
                                                  const struct sections *sections,
                                                  const struct monitors *monitors);

#endif
