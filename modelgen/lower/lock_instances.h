/* Locks of a data structure: one in each node of a tree, entry of a table, account. All are used at
 * the same places, so that the code does not tell which one it is.
 *
 * Where nearly all the waiting is for a few of them, these are modelled each on its own: which one
 * a thread takes then follows its own history, as measured. There are as many of them whatever the
 * number of threads. Waiting for the others is left out. */
#ifndef PERSIK_MODELGEN_LOWER_LOCK_INSTANCES_H
#define PERSIK_MODELGEN_LOWER_LOCK_INSTANCES_H

#include "formats/model.h"
#include "modelgen/events/critical_sections.h"

/* Per sync object: whether it is such a lock. `life_ns`: of all threads; waiting that is little
 * beside it does not matter. Notes in the model what is left out. The caller frees. */
bool *lock_instances_find(const struct sections *sections, double life_ns, struct model *model);

#endif
