/* Sections that add several at once, as many as their call site says ("so many parts are to come").
 * The trace does not show how many. But there are moments at which the counter is known: whoever
 * waits for the others' work goes on when nothing is outstanding, and whoever waits for something
 * to take does so when nothing is left. From one of them to the next all that was added was used
 * up, which gives a linear equation for what the call sites add. */
#ifndef PERSIK_MODELGEN_SYNC_BATCH_SIZES_H
#define PERSIK_MODELGEN_SYNC_BATCH_SIZES_H

#include "modelgen/sync/counter_replay.h"

/* The replayed events of one mutex, or of several that are alike, in the order of time. */
struct batch_events {
    const struct replay_event *items;
    size_t count;
    size_t n_instances;
};

/* Multiplies the weights by what the sections of their call sites add at once: of those that add
 * where the hypothesis' waiters take, else of those that others make up for. False: the events do
 * not tell, or it is one everywhere; the hypothesis is as before then. */
bool batch_sizes_solve(const struct monitors *monitors, struct batch_events events,
                       struct hypothesis *hypothesis);

#endif
