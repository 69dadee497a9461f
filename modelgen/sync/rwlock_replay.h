/* Read-write locks: each thread locks and unlocks by turns. */
#ifndef PERSIK_MODELGEN_SYNC_RWLOCK_REPLAY_H
#define PERSIK_MODELGEN_SYNC_RWLOCK_REPLAY_H

#include "modelgen/sync/pattern_replay.h"

/* True: found, and added to the finder's monitors. */
bool rwlock_replay_find(const struct finder *finder);

#endif
