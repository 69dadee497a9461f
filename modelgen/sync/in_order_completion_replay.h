/* In-order completion: one thread fetches results in the order in which their numbers were drawn,
 * while others produce them in any order. */
#ifndef PERSIK_MODELGEN_SYNC_IN_ORDER_COMPLETION_REPLAY_H
#define PERSIK_MODELGEN_SYNC_IN_ORDER_COMPLETION_REPLAY_H

#include "modelgen/sync/pattern_replay.h"

/* All under one mutex; the numbers are drawn where the producers take their work. True: found, and
 * added to the monitors' patterns. */
bool in_order_completion_replay_find(const struct finder *finder);

/* Each result has a mutex of its own, of those that are alike. */
bool in_order_completion_replay_find_in_array(const struct finder *finder);

#endif
