/* Streams of steps -> the model's nodes and edges: one probabilistic execution graph per pool. */
#ifndef PERSIK_MODELGEN_GRAPH_PEG_H
#define PERSIK_MODELGEN_GRAPH_PEG_H

#include "formats/sample.h"
#include "modelgen/graph/stream.h"
#include "modelgen/scaling/partition.h"

struct peg_input {
    const struct trace *trace;
    const struct facts *facts;   /* NULL without source */
    const struct sample *sample; /* NULL without */
    const struct thread_pools *pools;
    const struct timeline *timelines;
    const uint32_t *places;              /* per context: see source_places */
    struct stream_result *streams;       /* steps that only drain a finished loop are taken out */
    struct partition_evidence *evidence; /* one per pool; what the rounds tell is added */
    size_t max_nodes;                    /* splitting nodes by their history stops here */
};

/* Appends nodes and edges; sets each pool's entry. The model's pools are there already, in
 * the order of input->pools. */
void peg_build(const struct peg_input *input, struct model *model);

#endif
