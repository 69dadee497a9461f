/* What threads waited for under one mutex: for each wait loop the guard that says when. */
#ifndef PERSIK_MODELGEN_SYNC_WAIT_LOOPS_H
#define PERSIK_MODELGEN_SYNC_WAIT_LOOPS_H

#include "modelgen/sync/guards.h"

/* Sets whether waits for the condition, and for those like it, count as explained. */
void wait_loops_set_explained(struct monitors *monitors, const struct sections *sections,
                              int condition, bool explained);

/* Every (entry, condition) of this mutex, or of those like it, that waited. Adds the guards and
 * sets condition_explained. */
void wait_loops_find(struct monitors *monitors, const struct sections *sections, int mutex,
                     const struct object_history *history, struct guard_list *list);

#endif
