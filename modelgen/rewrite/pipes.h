/* Pipes that a program makes for itself, and of which whatever is written in one call is read in
 * one call, are queues of items between its threads. */
#ifndef PERSIK_MODELGEN_REWRITE_PIPES_H
#define PERSIK_MODELGEN_REWRITE_PIPES_H

#include "modelgen/events/event_log.h"

/* Shows the calls on such pipes as those on a queue (ROLE_put, ROLE_get ...). */
void pipes_as_queues(struct event_log *log);

#endif
