/* What one thread of a pool does in each round for all of them: behind a barrier the first, the
 * last or thread 0 adds up, writes, or prepares the next step. With more threads there are no more
 * of it. Told by the trace alone: in each of many rounds one thread went this way, or computed, and
 * all others did not. */
#ifndef PERSIK_MODELGEN_GRAPH_TAKERS_H
#define PERSIK_MODELGEN_GRAPH_TAKERS_H

#include "modelgen/graph/builder.h"

/* Before nodes are split by history: marks those at which one thread goes another way than the
 * others (draft_node_values.has_taker). A thread that always goes the same way would look as if its
 * history decided. */
void takers_find_nodes(struct builder *builder);

/* Sets `taker` of the edges that have one, once it is known which of them leave a loop. */
void takers_find_edges(struct builder *builder);

/* The one edge on which all threads go, but only one of them computes: moves the CPU times of those
 * that do to `of_one`, which the caller frees. TAKER_ANY: it is not such. */
enum taker takers_split_cpu(const struct builder *builder, struct draft_edge *draft,
                            struct values *of_one);

#endif
