/* The source's own words held against the trace: the guarded commands of a proposal, which say what
 * each critical section reads, waits for, changes and signals. */
#ifndef PERSIK_MODELGEN_SYNC_SOURCE_REPLAY_H
#define PERSIK_MODELGEN_SYNC_SOURCE_REPLAY_H

#include "modelgen/sync/replay.h"

/* Of each section of the trace the section of the proposal that it is, where it is one of `mutex`
 * (index into the objects); else HISTORY_NO_ROLE. The caller frees. */
int *source_replay_roles(const struct trace *trace, const struct sections *sections,
                         const struct facts_monitor *proposal, int mutex);

/* Replays the sections of the mutex in these roles. `threads`: the thread count of the run. A
 * proposal whose variables are not those of this mutex (one of many items under a common lock)
 * gives no decisions. `trails` may be NULL. */
struct tally source_replay(const struct sections *sections, const struct facts_monitor *proposal,
                           int mutex, const int *roles, double threads, replay_trail *trails);

#endif
