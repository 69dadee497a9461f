/* How edges follow the thread count: the computation on them, and the rounds of the loops that they
 * stay in. */
#ifndef PERSIK_MODELGEN_GRAPH_EDGE_SCALING_H
#define PERSIK_MODELGEN_GRAPH_EDGE_SCALING_H

#include "modelgen/graph/peg_builder.h"

/* How the computation on the edge follows the threads. Where it is shared out in whole items, the
 * measured values become what they would be if the items had divided evenly. What the rounds tell
 * goes to the evidence of the pool. */
struct scaling edge_scaling_cpu(const struct peg_builder *builder, struct peg_edge *draft);

/* Is the computation on the edge, which is scaled so, a part of a total that is split among the
 * pool's threads beforehand? Follows edge_scaling_cpu(). */
bool edge_scaling_is_split(const struct peg_builder *builder, const struct peg_edge *draft,
                           const struct scaling *scaling);

/* Adds to the pool's evidence what its threads compute in a loop between two calls of which the
 * source does not tell who ends it. */
void edge_scaling_note_hidden(const struct peg_builder *builder, int pool);

/* Of the loop that the edge stays in: sets how its runs, and how often its node is stayed at,
 * follow the threads. `node` and `edge` are the model's, whose distributions are there already. */
void edge_scaling_stays(const struct peg_builder *builder, const struct peg_edge *draft,
                        struct node *node, struct edge *edge);

#endif
