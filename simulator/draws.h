/* What nodes and edges take: values out of distributions.
 *
 * An empirical distribution is a bag out of which all threads draw, without putting back but where
 * the run has no end. Of what threads have in common
 * (struct dist) each round's value is drawn once: the order of the rounds is a second bag, and how
 * many rounds a thread has had tells which one it is in. */
#ifndef PERSIK_SIMULATOR_DRAWS_H
#define PERSIK_SIMULATOR_DRAWS_H

#include "simulator/state.h"

/* Room in a new engine, its end, and the beginning of a run. */
void draws_make(struct engine *engine);
void draws_free(struct engine *engine);
void draws_reset(struct engine *engine, uint64_t seed);

/* One value of distribution `draw` (0 for PLAN_NONE). Empirical ones come out of the common bag,
 * others from `random`. */
double draws_one(struct engine *engine, int draw, struct random_stream *random);

/* The same for the thread, which is in its next round of what the distribution is of. */
double draws_of_round(struct engine *engine, int draw, struct thread *thread);

#endif
