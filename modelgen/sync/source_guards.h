/* Guards that the source proposes, where nobody ever had to wait for them, or too few to tell. */
#ifndef PERSIK_MODELGEN_SYNC_SOURCE_GUARDS_H
#define PERSIK_MODELGEN_SYNC_SOURCE_GUARDS_H

#include "modelgen/sync/guards.h"

/* Adds what the source says of the mutex, where the trace allows it and tells no more itself. */
void source_guards_find(const struct trace *trace, const struct sections *sections, int mutex,
                        const struct object_history *history, struct monitors *monitors);

#endif
