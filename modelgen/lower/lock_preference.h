/* Whom read-write locks prefer, readers or writers. No call tells: it is an attribute given when
 * the lock is made, or part of an initialiser. So it is looked for in what happened to readers that
 * came while others were in and a writer waited. */
#ifndef PERSIK_MODELGEN_LOWER_LOCK_PREFERENCE_H
#define PERSIK_MODELGEN_LOWER_LOCK_PREFERENCE_H

#include <stdbool.h>

#include "modelgen/events/critical_sections.h"

/* Per sync object: a read-write lock whose readers more often let a waiting writer go first than
 * not. The caller frees. */
bool *lock_preference_writers_first(const struct trace *trace, const struct sections *sections);

#endif
