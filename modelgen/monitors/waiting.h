/* What threads waited for under one mutex: for each wait loop the guard that says when. */
#ifndef PERSIK_MODELGEN_MONITORS_WAITING_H
#define PERSIK_MODELGEN_MONITORS_WAITING_H

#include "modelgen/monitors/guards.h"

/* Sets whether waits for the condition, and for those like it, count as explained. */
void waiting_set_explained(struct monitors *monitors, const struct sections *sections,
                           int condition, bool explained);

/* Every (entry, condition) of this mutex, or of those like it, that waited. Adds the guards and
 * sets condition_explained. */
void waiting_find(struct monitors *monitors, const struct sections *sections, int mutex,
                  const struct history *history, struct guard_list *list);

#endif
