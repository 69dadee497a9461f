/* Ways that threads take in an order that is known: one thread alone decides as it did, and where
 * all threads of a pool went the same ways, each goes round as often as all others until a result
 * is good enough, meeting them in between. What belongs together stays together: threads, or
 * places, of which each drew its ways for itself would soon wait for ever for those that went
 * another one. */
#ifndef PERSIK_MODELGEN_GRAPH_BRANCH_SEQUENCES_H
#define PERSIK_MODELGEN_GRAPH_BRANCH_SEQUENCES_H

#include "modelgen/graph/peg_builder.h"

/* Gives such nodes of the model the order of their edges. Follows the writing of the edges. */
void branch_sequences_find(const struct peg_builder *builder);

#endif
