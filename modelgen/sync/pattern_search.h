/* The search for patterns, mutex by mutex. */
#ifndef PERSIK_MODELGEN_SYNC_PATTERN_SEARCH_H
#define PERSIK_MODELGEN_SYNC_PATTERN_SEARCH_H

#include "modelgen/sync/monitor.h"

/* Finds the patterns of all mutexes and marks the conditions that they explain. Barriers and
 * rwlocks cannot be mistaken and come before the guards; turns are sought where no guard explains
 * the waits.
 */
void pattern_search_find(const struct trace *trace, const struct sections *sections,
                         struct monitors *monitors, bool before_guards);

#endif
