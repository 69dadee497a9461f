/* Periodic tasks: a thread that sleeps until the next point of a grid in time of its own, for a
 * frame, a sample, a tick, by an absolute time or by what its work has left of the period. The
 * longer its work takes, the less it sleeps: replayed as so long a sleep, each period would become
 * longer. Told from a plain pause by equal periods in which it sleeps the less the later it begins
 * to: it had more to do, or the sleep before ended late. */
#ifndef PERSIK_MODELGEN_REWRITE_PERIODIC_SLEEPS_H
#define PERSIK_MODELGEN_REWRITE_PERIODIC_SLEEPS_H

#include <stddef.h>

#include "modelgen/events/event_log.h"

/* Shows such sleeps as waits for a timer, with the median period. Gives how many. */
size_t periodic_sleeps_as_timers(struct event_log *log);

#endif
