/* What the threads of a pool have in common: how alike the CPU times are that they need for the
 * same round. */
#ifndef PERSIK_MODELGEN_GRAPH_COMMON_H
#define PERSIK_MODELGEN_GRAPH_COMMON_H

#include "modelgen/graph/builder.h"

struct common {
    double share; /* of the variance that goes by the round (the intraclass correlation), 0..1 */
    int sharers;  /* threads that had each round */
};

/* Gives each thread the same part of each of the edge's rounds; does nothing where it is not by
 * rounds that they go. */
void common_even_out(const struct builder *builder, struct draft_edge *draft);

/* Of the edge's CPU times. None (0) where that may be chance, one thread tells nothing, or threads
 * had different numbers of rounds: then it is not by rounds that they go. */
struct common common_find(const struct builder *builder, const struct draft_edge *draft);

#endif
