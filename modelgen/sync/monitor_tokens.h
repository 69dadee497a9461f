/* What was found to explain waits under mutexes, said of the recorded calls, for who replays the
 * recorded run (modelgen/dependencies/). */
#ifndef PERSIK_MODELGEN_SYNC_MONITOR_TOKENS_H
#define PERSIK_MODELGEN_SYNC_MONITOR_TOKENS_H

#include "modelgen/dependencies/token_uses.h"
#include "modelgen/events/event_log.h"
#include "modelgen/sync/monitor.h"

/* Only of mutexes all waits under which follow from counters that the run does not contradict; of
 * others nothing is said, and who replays keeps their order. `facts` may be NULL. The caller ends
 * it with token_uses_free(). */
struct token_uses monitor_tokens_find(const struct event_log *log, const struct facts *facts,
                                      const struct sections *sections,
                                      const struct monitors *monitors);

#endif
