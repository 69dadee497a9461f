/* Semaphores of System V (semop): a set has several, and one call may add to any, or take from it.
 */
#ifndef PERSIK_MODELGEN_REWRITE_SYSV_SEMAPHORES_H
#define PERSIK_MODELGEN_REWRITE_SYSV_SEMAPHORES_H

#include "modelgen/events/event_log.h"

/* Shows the calls that take one from such a semaphore, or give one, as those on a semaphore
 * (ROLE_acquire, ROLE_release), and those that set its value as its creation
 * (ROLE_create_semaphore). Sets on which other operations are made (several at once, more than one,
 * waiting for zero) stay as they are. Gives how many of their operations do, which the model takes
 * for times that pass. */
size_t sysv_semaphores_as_semaphores(struct event_log *log);

#endif
