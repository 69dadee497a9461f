/* What the graph is made of. */
#ifndef PERSIK_MODELGEN_GRAPH_PEG_INPUT_H
#define PERSIK_MODELGEN_GRAPH_PEG_INPUT_H

#include "formats/facts.h"
#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/calibrate/disk_service.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/graph/file_mix.h"
#include "modelgen/graph/iteration_partition.h"
#include "modelgen/graph/steps.h"
#include "modelgen/rewrite/page_faults.h"
#include "modelgen/threads/thread_pools.h"

struct peg_input {
    const struct trace *trace;
    const struct facts *facts;   /* NULL without source */
    const struct sample *sample; /* NULL without */
    const struct thread_pools *pools;
    const struct thread_states *timelines;
    const uint32_t *places;              /* per context: see source_places */
    const struct disk_service *disks;    /* NULL: not known */
    const struct page_faults *faults;    /* NULL: none */
    const struct mixed_run *mixed;       /* what is no part of the streams; NULL: nothing */
    struct stream_result *streams;       /* steps that only drain a finished loop are taken out */
    struct partition_evidence *evidence; /* one per pool; what the rounds tell is added */
    bool puts_in_order; /* a thread that is alone keeps the order of its ways behind puts as well */
    size_t max_nodes;   /* splitting nodes by their history stops here */
};

#endif
