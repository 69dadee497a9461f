/* Sections that never wait: they try, and what comes next depends on whether they succeed. */
#ifndef PERSIK_MODELGEN_SYNC_TRY_OPERATIONS_H
#define PERSIK_MODELGEN_SYNC_TRY_OPERATIONS_H

#include "modelgen/sync/guards.h"

/* Entries that never wait but sometimes signal and sometimes do not, or go different ways
 * afterwards: an attempt that can fail. Only believed where the success adds to a guard already
 * found; or, without a signal, takes from one or is beyond doubt. */
void try_operations_find(const struct trace *trace, struct monitors *monitors,
                         const struct sections *sections, int mutex,
                         const struct object_history *history);

/* Lazy initialisation: the first thread to look does not wait for the level, though it is not
 * there, but goes and brings it about. Who that is shows at run time only, so an attempt at a
 * permit stands before the look. `g`: the index of an explanation. */
void try_operations_find_once(struct monitors *monitors, const struct sections *sections, size_t g,
                              const struct object_history *history);

#endif
