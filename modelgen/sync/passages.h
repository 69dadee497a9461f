/* Visits that wait for one number each: a turn that begins when the one before it is over, or the
 * result with the visit's own number. */
#ifndef PERSIK_MODELGEN_SYNC_PASSAGES_H
#define PERSIK_MODELGEN_SYNC_PASSAGES_H

#include "modelgen/sync/pattern_replay.h"

/* A number's way through. */
struct passage {
    size_t wait_section; /* that waited for it */
    size_t pass_section; /* in which it passed */
    int thread;          /* that held it */
    uint64_t passed_ns;
    uint64_t after_ns; /* the passage before it by the same mutex */
};

/* In the order of the numbers. */
struct passages {
    struct passage *items;
    size_t count, capacity;
};

/* Replays them: a visit waits until the passage before it is over (turns) or its own (`of_own`,
 * results). */
struct tally passages_replay(const struct finder *finder, const struct passages *passages,
                             bool of_own);

#endif
