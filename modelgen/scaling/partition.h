/* Which rule a pool's work follows, and a model made to follow another one. */
#ifndef PERSIK_MODELGEN_SCALING_PARTITION_H
#define PERSIK_MODELGEN_SCALING_PARTITION_H

#include "formats/facts.h"
#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/pools/pools.h"
#include "modelgen/scaling/rounds.h"

/* What the rounds of a pool's loops tell, gathered while its graph is made. Times are of all
 * threads together. */
struct partition_evidence {
    bool remainder; /* the numbers of rounds differ as those of a total that does not divide */
    bool equal;     /* they are the same in all threads, and more than one */
    bool uneven;    /* they differ in some other way */
    double total;   /* of the loop with the most rounds */
    double cpu_ns;
    double undecided_ns; /* of that in loops that may be each thread's own or share something out */
    double most_undecided_ns;
    const struct facts_loop *undecided; /* the one of them with the most */
    double hidden_share; /* of the computation in such a loop, between two calls, by the samples */
    const struct facts_loop *hidden;
};

void partition_note(struct partition_evidence *evidence, const struct rounds_fit *fit);

/* Sets rule, partition and confidence of all pools; those of which nothing is known are made to
 * split a fixed total. `evidence`: one per pool; `timelines`: one per thread. */
void partition_decide(const struct trace *trace, const struct facts *facts,
                      const struct thread_pools *pools, const struct timeline *timelines,
                      const struct partition_evidence *evidence, struct model *model);

/* Rounds as they would be if the items had divided evenly among the `threads` profiled ones. */
void partition_even_out(struct dist *stays, const struct scaling *scaling, int threads);

#endif
