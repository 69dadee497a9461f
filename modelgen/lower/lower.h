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

/* What became of the objects that the program's threads share: per synchronisation object, or told
 * by the first one of its class. */
struct lowered_objects {
    int *object_of; /* its object of the model; negative: it has none */
    bool *is_flag;  /* a condition with a signal's memory in place of its predicate */
};

/* Appends the objects that the steps need, and notes on what is not exact, to `model`. `objects`
 * gets what became of them; lowered_objects_free() ends it. */
struct stream_result lower_make(const struct lower_input *input, struct model *model,
                                struct lowered_objects *objects);

void lowered_objects_free(struct lowered_objects *objects);

#endif
