/* A pool's nodes made to follow a rule: what of them is a share of a total, what is each thread's
 * own. */
#ifndef PERSIK_MODELGEN_SCALING_APPLY_RULE_H
#define PERSIK_MODELGEN_SCALING_APPLY_RULE_H

#include "base/error.h"
#include "formats/model.h"
#include "modelgen/scaling/pool_graph.h"

/* Makes all of the pool's nodes follow the rule, and may add nodes and objects to the model. 0, or
 * -1 and `error`: each thread cannot have its own of what others hand out. */
int apply_rule(struct pool_graph *graph, enum partition rule, struct error *error);

#endif
