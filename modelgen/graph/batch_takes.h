/* Consumers that take several items at once: all that is there, or up to so many. The trace shows
 * that they took something, not how much, but it shows that much more was put. */
#ifndef PERSIK_MODELGEN_GRAPH_BATCH_TAKES_H
#define PERSIK_MODELGEN_GRAPH_BATCH_TAKES_H

#include "modelgen/graph/peg_input.h"

/* Notes in the evidence of each pool how many items its threads took at once, on average, of the
 * queue of which they took the most items at once, where that cannot be one. `n_objects` of the
 * model. */
void batch_takes_note(const struct peg_input *input, size_t n_objects);

#endif
