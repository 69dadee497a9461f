/* Tickets: numbers are drawn at one place and pass in their order at another. */
#ifndef PERSIK_MODELGEN_SYNC_TICKET_REPLAY_H
#define PERSIK_MODELGEN_SYNC_TICKET_REPLAY_H

#include "modelgen/sync/pattern_replay.h"

/* Of waits that nothing explains yet. */
bool ticket_replay_find(const struct finder *finder);

/* Where nobody had to wait for his turn, or two threads only, which could as well share one permit,
 * the source and the order of the passages tell. */
bool ticket_replay_find_proposed(const struct finder *finder);

/* Looks for the place where the order is decided, judges, and adds the pattern if it holds; else
 * frees its acts. */
bool passages_add(const struct finder *finder, const struct passages *passages, bool of_own,
                  struct explanation *pattern);

#endif
