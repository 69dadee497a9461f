/* Self-scheduled computation: in each round threads share it out among themselves by taking from
 * what there is until nothing is left, as with an atomic counter of items. The source tells of it;
 * the trace, which shows no call in between, only what it came to. A thread that has a core takes
 * more, and nobody waits for a share that another one was to do. */
#ifndef PERSIK_MODELGEN_GRAPH_SELF_SCHEDULED_WORK_H
#define PERSIK_MODELGEN_GRAPH_SELF_SCHEDULED_WORK_H

#include "modelgen/graph/peg_builder.h"

/* Of an edge of which `share` of the computation is taken so: notes what all threads together take
 * in a round, if all of them come by here in each. */
void self_scheduled_work_note(const struct peg_builder *builder, struct peg_edge *draft,
                              double share);

/* Makes a supply of each such edge's work, which each round has anew, and a node that takes from
 * it. Nodes of the model that the builder does not know: nothing else may be built after it. */
void self_scheduled_work_share_out(const struct peg_builder *builder);

#endif
