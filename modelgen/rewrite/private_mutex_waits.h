/* Waits that are made atomic by a mutex of the thread's own. The thread finds nothing to do under
 * the shared mutex, locks its own, unlocks the shared one, waits on its own condition, and then
 * locks the shared one again; a thread that has work for it locks that private mutex to signal it.
 * That is the same as to wait under the shared mutex on a condition of its own. */
#ifndef PERSIK_MODELGEN_REWRITE_PRIVATE_MUTEX_WAITS_H
#define PERSIK_MODELGEN_REWRITE_PRIVATE_MUTEX_WAITS_H

#include "modelgen/events/event_log.h"

/* Shows it so where all that is ever done under a mutex is of this kind. */
void private_mutex_waits_as_condition_waits(struct event_log *log);

#endif
