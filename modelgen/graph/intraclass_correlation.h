/* How alike the CPU times are that the threads of a pool need for the same round: the intraclass
 * correlation (R. A. Fisher, Statistical Methods for Research Workers, 1925). */
#ifndef PERSIK_MODELGEN_GRAPH_INTRACLASS_CORRELATION_H
#define PERSIK_MODELGEN_GRAPH_INTRACLASS_CORRELATION_H

#include "modelgen/graph/peg_builder.h"

struct intraclass_correlation {
    double share; /* of the variance that goes by the round (the intraclass correlation), 0..1 */
    int sharers;  /* threads that had each round */
};

/* Gives each thread the same part of each of the edge's rounds; does nothing where it is not by
 * rounds that they go. */
void intraclass_correlation_even_out(const struct peg_builder *builder, struct peg_edge *draft);

/* Of the edge's CPU times. None (0) where that may be chance, one thread tells nothing, or threads
 * had different numbers of rounds: then it is not by rounds that they go. */
struct intraclass_correlation intraclass_correlation_find(const struct peg_builder *builder,
                                                          const struct peg_edge *draft);

#endif
