/* Runs without probes: what the program takes by itself. */
#ifndef PERSIK_TRACER_PLAIN_RUNS_H
#define PERSIK_TRACER_PLAIN_RUNS_H

#include "tracer/collection.h"

/* So many that count. What goes wrong in one is noted, and there are no more. -1 and `error`: the
 * stage cannot go on. */
int plain_runs_make(struct collection *collection, int runs, struct error *error);

/* The same, as many as it takes to know what is usual. */
int plain_runs_make_enough(struct collection *collection, struct error *error);

/* What several cores cost each other (memory, caches, locks of the kernel) is seen where the same
 * run has one core only. After the traced run. */
int plain_runs_on_one_core(struct collection *collection, struct error *error);

#endif
