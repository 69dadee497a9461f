/* Which rule a pool's work follows, and a model made to follow another one. */
#ifndef PERSIK_MODELGEN_SCALING_PARTITION_RULE_H
#define PERSIK_MODELGEN_SCALING_PARTITION_RULE_H

#include "formats/facts.h"
#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/scaling/iteration_partition.h"
#include "modelgen/threads/thread_pools.h"

/* What the rounds of a pool's loops tell, gathered while its graph is made. Times are of all
 * threads together. */
struct partition_rule_evidence {
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

void partition_rule_note(struct partition_rule_evidence *evidence,
                         const struct iteration_partition_fit *fit);

/* Sets rule, partition and confidence of all pools; those of which nothing is known are made to
 * split a fixed total. `evidence`: one per pool; `timelines`: one per thread. */
void partition_rule_decide(const struct trace *trace, const struct facts *facts,
                           const struct thread_pools *pools, const struct thread_states *timelines,
                           const struct partition_rule_evidence *evidence, struct model *model);

/* Makes the model's pool follow another rule (PARTITION_SHARED, FIXED or PERTHREAD) than the one it
 * was built with. -1 and `error` where that makes no sense; the model is then as before. */
int partition_rule_change(struct model *model, int pool, enum partition rule, struct error *error);

#endif
