/* Pipes that a program makes for itself, and of which whatever is written in one call is read in
 * one call, are queues of items between its threads. */
#ifndef PERSIK_MODELGEN_PIPES_H
#define PERSIK_MODELGEN_PIPES_H

#include "formats/trace.h"

/* The trace's threads with the calls on such pipes as those on a queue (ROLE_put, ROLE_get ...);
 * NULL: there are none. Records are the result's own, all else is the trace's. End it with
 * pipes_free(). */
struct trace_thread *pipes_as_queues(const struct trace *trace);
void pipes_free(struct trace_thread *threads, size_t n_threads);

#endif
