/* A condition that nobody ever signals is no condition: who waits for it, with a timeout, sleeps
 * until a time, and gives the mutex to others meanwhile. So tickers, retries and back-offs are
 * written that sleep inside of a critical section. As a condition's, such waits would have a
 * predicate, which nobody makes true. */
#ifndef PERSIK_MODELGEN_REWRITE_UNSIGNALLED_WAITS_H
#define PERSIK_MODELGEN_REWRITE_UNSIGNALLED_WAITS_H

#include <stddef.h>

#include "modelgen/events/event_log.h"

/* Shows such waits as an unlock, a sleep and a lock. Gives how many. */
size_t unsignalled_waits_as_sleeps(struct event_log *log);

/* Shows the wait in which the program's end finds a thread that nobody of the run created as an
 * unlock, behind which the thread ends. Gives how many. */
size_t unsignalled_waits_as_ends(struct event_log *log);

#endif
