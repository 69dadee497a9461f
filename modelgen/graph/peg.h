/* Streams of steps -> the model's nodes and edges: one probabilistic execution graph per pool. */
#ifndef PERSIK_MODELGEN_GRAPH_PEG_H
#define PERSIK_MODELGEN_GRAPH_PEG_H

#include "modelgen/graph/peg_input.h"

/* Appends nodes and edges; sets each pool's entry. The model's pools are there already, in
 * the order of input->pools. */
void peg_build(const struct peg_input *input, struct model *model);

#endif
