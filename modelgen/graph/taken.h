/* Computation that threads share out among themselves in each round, by taking from what there is
 * until nothing is left, as with an atomic counter of items. The source tells of it; the trace,
 * which shows no call in between, only what it came to. Who has a core takes more, and nobody waits
 * for a part that another one was to do. */
#ifndef PERSIK_MODELGEN_GRAPH_TAKEN_H
#define PERSIK_MODELGEN_GRAPH_TAKEN_H

#include "modelgen/graph/builder.h"

/* Of an edge of which `share` of the computation is taken so: notes what all threads together take
 * in a round, if all of them come by here in each. */
void taken_note(const struct builder *builder, struct draft_edge *draft, double share);

/* Makes a supply of each such edge's work, which each round has anew, and a node that takes from
 * it. Nodes of the model that the builder does not know: nothing else may be built after it. */
void taken_share_out(const struct builder *builder);

#endif
