/* Rounds: somebody opens one after the other, and each opening lets every thread go on once. A
 * thread that is done early waits for the next one while others have not yet gone on by the last:
 * it does not take what is theirs, as it would by a counter. */
#ifndef PERSIK_MODELGEN_MONITORS_ROUNDS_H
#define PERSIK_MODELGEN_MONITORS_ROUNDS_H

#include "modelgen/monitors/finder.h"

/* True: found, and added to the finder's monitors. Only where some thread did wait so, or the
 * source says that each waits for a number of its own: else a counter says the same, and may say
 * more. */
bool rounds_find(const struct finder *finder);

#endif
