/* Barriers: all but the last of each round wait, and the last wakes them. */
#ifndef PERSIK_MODELGEN_SYNC_BARRIER_REPLAY_H
#define PERSIK_MODELGEN_SYNC_BARRIER_REPLAY_H

#include "modelgen/sync/pattern_replay.h"

/* True: found, and added to the finder's monitors. */
bool barrier_replay_find(const struct finder *finder);

#endif
