/* Takes the cores away from a program now and then and empties their caches, to see in its trace
 * what it costs its threads to come back to a core that others have used.
 *
 * A thread of real-time priority on each core does one of two things every 8 to 20 ms. Mostly it
 * holds the core for one of a few times and reads through more memory than the core's own
 * (second-level) cache takes, anew every 4 ms, as other threads would that have the core in turns.
 * Else it fills half of that cache with lines of its own, lets go, and looks after 0.3 to 3 ms how
 * many of them are still there: so fast does what runs there displace what others had. */
#ifndef PERSIK_TRACER_EVICTOR_H
#define PERSIK_TRACER_EVICTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "formats/trace.h"

struct evictor;

/* Works on all cores we may use from now on. NULL and `error`: no right to real-time priority, or
 * the size of the caches is not known. */
struct evictor *evictor_start(struct error *error);

/* Can it tell, on some core, whether what it left in its cache is still there? Else nothing says
 * how fast threads displace what others have, and losing it seems to cost nothing. */
bool evictor_sees_displacement(const struct evictor *evictor);

struct evictions {
    struct trace_eviction *items; /* by cpu, then by time, in CLOCK_MONOTONIC; free() them */
    size_t count, capacity;
};

/* Ends it and gives what it did. */
struct evictions evictor_stop(struct evictor *evictor);

#endif
