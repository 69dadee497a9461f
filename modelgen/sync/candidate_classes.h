/* Which classes of a mutex' sections may have to do with what some of them wait for. */
#ifndef PERSIK_MODELGEN_SYNC_CANDIDATE_CLASSES_H
#define PERSIK_MODELGEN_SYNC_CANDIDATE_CLASSES_H

#include <stdbool.h>

#include "modelgen/sync/counter_replay.h"
#include "modelgen/sync/monitor.h"

#define FREE_LIMIT  9 /* classes of a hypothesis that have a weight of their own */
#define CLOSE_LIMIT 4 /* candidates for what closes an object */

/* The classes of the mutex that may take part, the closing class (-1: none) left out: as many call
 * sites, or pieces of code (`by_operation`), as can have a weight of their own, with all that is
 * signalled there. Gives how many were chosen; what a hypothesis cannot do without comes first. */
int candidate_classes_choose(const struct monitors *monitors, int mutex, int waiter_entry,
                             int condition, int close_class, bool by_operation,
                             int chosen[CLASS_LIMIT]);

/* A loop may lock before it begins and again in each round: what waits for the same in the same
 * function is one operation. `a` and `b` are classes. */
bool candidate_classes_are_alike(const struct monitors *monitors, int a, int b);

/* Classes that may end the condition's life: they broadcast to its waiters, and run once. The last
 * ones, the very last first. Gives how many were found. */
int candidate_classes_that_close(const struct monitors *monitors, int mutex, int condition,
                                 int found[CLOSE_LIMIT]);

#endif
