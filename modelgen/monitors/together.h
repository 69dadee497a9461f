/* Several counters that must be there together, such as a job and room for its result. */
#ifndef PERSIK_MODELGEN_MONITORS_TOGETHER_H
#define PERSIK_MODELGEN_MONITORS_TOGETHER_H

#include "modelgen/monitors/guards.h"

/* What no counter alone explains, or only with so many contradictions. Whoever needs two things
 * takes first what others give back: the order in which the second are taken is then that in which
 * they are used. True: two guards were added. */
bool together_find(struct monitors *monitors, const struct sections *sections,
                   const struct section_class *class, double contradictions,
                   const struct history *history, struct guard_list *list);

/* Do the sections of this entry wait by two guards of the list together? */
bool together_waits(const struct monitors *monitors, const struct guard_list *list, int entry);

#endif
