/* A semaphore with its count in an atomic variable (Schillings, "Benaphores", 1996): a thread locks
 * the mutex, and waits or wakes, only where the count says that it must. What it does to the count
 * alone is no call, and is not recorded. But it must have happened: a thread comes to what follows
 * either through the mutex or past it (Apache's count of idle workers). */
#ifndef PERSIK_MODELGEN_REWRITE_COUNTED_SEMAPHORES_H
#define PERSIK_MODELGEN_REWRITE_COUNTED_SEMAPHORES_H

#include "modelgen/events/event_log.h"

/* Shows such a semaphore with all that was done to it: where every visit of the mutex from one
 * place waits, each is woken by a signal from another place, either is always followed by the same
 * call, and the count that all these calls imply says when threads had to wait. */
void counted_semaphores_as_semaphores(struct event_log *log);

#endif
