/* Loops: where the graph's end, and which of the source's the graph shows. */
#ifndef PERSIK_MODELGEN_GRAPH_LOOPS_H
#define PERSIK_MODELGEN_GRAPH_LOOPS_H

#include "modelgen/graph/builder.h"

/* Finds all edges, and which of them leave a loop. Steps that only drain a finished loop are taken
 * out of the streams; what the thread must wait for in their place gets nodes. */
void loops_find_ends(struct builder *builder);

/* The same with the streams as they are. */
void loops_find_leaving(struct builder *builder);

/* Sets loop_is_visible and is_in_share, which builder_free() frees. Follows loops_find_ends(). */
void loops_find_visible(struct builder *builder);

/* Per node: does a thread that takes the edge come to it before it is where the edge begins again,
 * or there at last, inside of the loop (NULL: anywhere)? The caller frees. */
bool *loops_way_round(const struct builder *builder, const struct draft_edge *draft,
                      const struct facts_loop *loop);

#endif
