/* Where the threads of the traced run waited for each other, and how well the model does that. */
#ifndef PERSIK_MODELGEN_GRAPH_SHARES_H
#define PERSIK_MODELGEN_GRAPH_SHARES_H

#include "modelgen/graph/stream.h"

/* Fills `model->waiting`, the longest first. Per synchronisation object: `object_of`, its object of
 * the model or negative; `is_flag`, a condition with a signal's memory in place of its predicate.
 * Both may be told by the first object of a class. */
void shares_write(const struct stream_input *input, const int *object_of, const bool *is_flag,
                  struct model *model);

#endif
