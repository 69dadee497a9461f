/* The trace of a thread turned into the steps that the model will walk.
 *
 * Records become steps of the model's own kinds: a critical section that waits for work becomes a
 * GET, its conditions vanish; locks that nobody waits for vanish, their computation joins what
 * is around; the creations of a pool become one CREATE. What vanishes is what the paper calls
 * insignificant (section 3.3), plus what a guard expresses better. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_H
#define PERSIK_MODELGEN_LOWER_LOWER_H

#include "modelgen/graph/steps.h"
#include "modelgen/lower/lower_input.h"

/* Appends the objects that the steps need, and notes on what is not exact, to `model`. */
struct stream_result lower_make(const struct lower_input *input, struct model *model);
#endif
