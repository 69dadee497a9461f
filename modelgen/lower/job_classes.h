/* Job classes: what comes out of a queue may lead its consumer different ways, and which of them
 * can follow from where it was put in. A thread pool whose creator has all its threads do one thing
 * in one round and something else in the next is simulated wrongly otherwise: each thread would
 * choose for itself. */
#ifndef PERSIK_MODELGEN_LOWER_JOB_CLASSES_H
#define PERSIK_MODELGEN_LOWER_JOB_CLASSES_H

#include "modelgen/graph/steps.h"
#include "modelgen/lower/lower_input.h"

/* Matches what was put into each of the model's queues with what was taken, in order, and gives the
 * puts that lead to different ways on numbers (step's item_kind), with a STEP of the same number
 * behind each get. */
void job_classes_find(const struct lower_input *input, const struct model *model,
                      struct stream *streams);

#endif
