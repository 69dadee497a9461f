/* Work that one thread of a pool does in each round for all of them (OpenMP's `single`): behind a
 * barrier the first, the last or thread 0 adds up, writes, or prepares the next step. With more
 * threads there is no more of it. The trace alone tells: in each of many rounds one thread went
 * this way, or computed, and all others did not. */
#ifndef PERSIK_MODELGEN_GRAPH_SINGLE_SECTIONS_H
#define PERSIK_MODELGEN_GRAPH_SINGLE_SECTIONS_H

#include "modelgen/graph/peg_builder.h"

/* Before nodes are split by history: marks those at which one thread goes another way than the
 * others (peg_node_values.has_single). A thread that always goes the same way would look as if its
 * history decided. */
void single_sections_find_nodes(struct peg_builder *builder);

/* Sets `taker` of the edges that have one, once it is known which of them leave a loop. */
void single_sections_find_edges(struct peg_builder *builder);

/* The one edge on which all threads go, but only one of them computes: moves the CPU times of those
 * that do to `of_one`, which the caller frees. TAKER_ANY: it is not such. */
enum taker single_sections_split_cpu(const struct peg_builder *builder, struct peg_edge *draft,
                                     struct values *of_one);

#endif
