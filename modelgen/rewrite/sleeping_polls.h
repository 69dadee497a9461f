/* A creator that sleeps and looks, again and again, until its threads are done, and then joins
 * them or, where they are detached, goes on: it waits for their ends. Replayed as so many sleeps,
 * the run would never become shorter. */
#ifndef PERSIK_MODELGEN_REWRITE_SLEEPING_POLLS_H
#define PERSIK_MODELGEN_REWRITE_SLEEPING_POLLS_H

#include <stddef.h>

#include "modelgen/events/event_log.h"

/* Shows such sleeps as the wait of the join behind them. What remains of the last sleep when the
 * threads have ended stays one. Gives the number of creators that poll so. */
size_t sleeping_polls_as_joins(struct event_log *log);

#endif
