/* Which rule a pool's work follows, and a model made to follow another one. */
#ifndef PERSIK_MODELGEN_SCALING_PARTITION_RULE_H
#define PERSIK_MODELGEN_SCALING_PARTITION_RULE_H

#include "formats/facts.h"
#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/graph/iteration_partition.h"
#include "modelgen/threads/thread_pools.h"

/* Sets rule, partition and confidence of all pools; those of which nothing is known are made to
 * split a fixed total. `evidence`: one per pool; `timelines`: one per thread. */
void partition_rule_decide(const struct trace *trace, const struct facts *facts,
                           const struct thread_pools *pools, const struct thread_states *timelines,
                           const struct partition_evidence *evidence, struct model *model);

/* Makes the model's pool follow another rule (PARTITION_SHARED, FIXED or PERTHREAD) than the one it
 * was built with. -1 and `error` where that makes no sense; the model is then as before. */
int partition_rule_change(struct model *model, int pool, enum partition rule, struct error *error);

#endif
