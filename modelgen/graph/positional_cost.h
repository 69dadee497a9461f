/* Parts of a total that cost more or less by their place in it: the rows of a triangle, a picture
 * with much to see in its middle. */
#ifndef PERSIK_MODELGEN_GRAPH_POSITIONAL_COST_H
#define PERSIK_MODELGEN_GRAPH_POSITIONAL_COST_H

#include "modelgen/graph/peg_builder.h"

/* Looks whether the pool's threads, each with the part of its number, differ steadily in what the
 * edge costs them. Then `edge` (of the model) gets what each part costs, and the draft's CPU times
 * become what they would be if all cost the same. Does nothing where threads differ little or by
 * chance. The edge must be of a total that is split beforehand. */
void positional_cost_find(const struct peg_builder *builder, struct peg_edge *draft,
                          struct edge *edge);

/* A note for each pool with such edges. */
void positional_cost_note(const struct peg_builder *builder);

#endif
