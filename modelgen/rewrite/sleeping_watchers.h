/* A thread that sleeps and looks, again and again, until it is told to stop: it prints how far the
 * others are, writes what they left, or removes what has expired. How often it does so follows from
 * how long the others take, and not the other way round: who tells it to stop and joins it waits
 * for no more than the rest of its last sleep. Replayed as so many sleeps and a wait for its end,
 * the run would never become shorter. */
#ifndef PERSIK_MODELGEN_REWRITE_SLEEPING_WATCHERS_H
#define PERSIK_MODELGEN_REWRITE_SLEEPING_WATCHERS_H

#include <stddef.h>

#include "modelgen/events/event_log.h"

/* Shows the joins of such threads as sleeps, as long as they were. Gives how many. */
size_t sleeping_watchers_as_unjoined(struct event_log *log);

#endif
