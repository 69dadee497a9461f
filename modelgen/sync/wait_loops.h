/* What threads waited for under one mutex: for each wait loop the guard that says when. */
#ifndef PERSIK_MODELGEN_SYNC_WAIT_LOOPS_H
#define PERSIK_MODELGEN_SYNC_WAIT_LOOPS_H

#include "modelgen/sync/guards.h"

/* Adds the guards of every (entry, condition) of this mutex, or of those like it, that waited. */
void wait_loops_find(struct monitors *monitors, const struct sections *sections, int mutex,
                     const struct object_history *history);

#endif
