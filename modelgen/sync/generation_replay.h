/* Generations: somebody opens one after the other, and each opening lets every thread go on once. A
 * thread that is done early waits for the next one while others have not yet gone on by the last:
 * it does not take what is theirs, as it would by a counter. */
#ifndef PERSIK_MODELGEN_SYNC_GENERATION_REPLAY_H
#define PERSIK_MODELGEN_SYNC_GENERATION_REPLAY_H

#include "modelgen/sync/pattern_replay.h"

/* True: found, and added to the finder's monitors. Only where some thread did wait so, or the
 * source says that each waits for a number of its own: else a counter says the same, and may say
 * more. */
bool generation_replay_find(const struct finder *finder);

#endif
