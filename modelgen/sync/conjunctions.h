/* Conjunctions: several counters that must all be positive, such as a job and room for its result.
 */
#ifndef PERSIK_MODELGEN_SYNC_CONJUNCTIONS_H
#define PERSIK_MODELGEN_SYNC_CONJUNCTIONS_H

#include "modelgen/sync/guards.h"

/* What no counter alone explains, or only with so many contradictions. Whoever needs two things
 * takes first what others give back: the order in which the second are taken is then that in which
 * they are used. True: two guards were added. */
bool conjunctions_find(struct monitors *monitors, const struct sections *sections,
                       const struct section_class *class, double contradictions,
                       const struct object_history *history, struct guard_list *list);

/* Do the sections of this entry wait by two guards of the list together? */
bool conjunctions_waits(const struct monitors *monitors, const struct guard_list *list, int entry);

#endif
