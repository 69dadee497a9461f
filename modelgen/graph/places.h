/* Parts of a total that cost more or less by their place in it: the rows of a triangle, a picture
 * with much to see in its middle. */
#ifndef PERSIK_MODELGEN_GRAPH_PLACES_H
#define PERSIK_MODELGEN_GRAPH_PLACES_H

#include "modelgen/graph/builder.h"

/* Looks whether the pool's threads, each with the part of its number, differ steadily in what the
 * edge costs them. Then `edge` (of the model) gets what each part costs, and the draft's CPU times
 * become what they would be if all cost the same. Does nothing where threads differ little or by
 * chance. The edge must be of a total that is split beforehand. */
void places_find(const struct builder *builder, struct draft_edge *draft, struct edge *edge);

/* A note for each pool with such edges. */
void places_note(const struct builder *builder);

#endif
