/* Loops: where the graph's end, and which of the source's the graph shows. */
#ifndef PERSIK_MODELGEN_GRAPH_NATURAL_LOOPS_H
#define PERSIK_MODELGEN_GRAPH_NATURAL_LOOPS_H

#include "modelgen/graph/peg_builder.h"

/* Finds all edges, and which of them leave a loop. Steps that only drain a finished loop are taken
 * out of the streams; what the thread must wait for in their place gets nodes. */
void natural_loops_find_ends(struct peg_builder *builder);

/* The same with the streams as they are. */
void natural_loops_find_leaving(struct peg_builder *builder);

/* Sets loop_is_visible and is_in_share, which peg_builder_free() frees. Follows
 * natural_loops_find_ends(). */
void natural_loops_find_visible(struct peg_builder *builder);

/* Per node: does a thread that takes the edge come to it before it is where the edge begins again,
 * or there at last, inside of the loop (NULL: anywhere)? The caller frees. */
bool *natural_loops_way_round(const struct peg_builder *builder, const struct peg_edge *draft,
                              const struct facts_loop *loop);

#endif
