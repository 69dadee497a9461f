/* A pool's nodes made to follow a rule: what of them is a share of a total, what is each thread's
 * own. */
#ifndef PERSIK_MODELGEN_SCALING_RULES_H
#define PERSIK_MODELGEN_SCALING_RULES_H

#include "base/error.h"
#include "formats/model.h"
#include "modelgen/scaling/pool_graph.h"

/* A share of what the pool's threads do together; `less`: see struct scaling. */
void rules_make_share(struct scaling *scaling, int pool, double less);
/* As it was measured, in each thread; who got what of a total is still known. */
void rules_make_own(struct scaling *scaling);
/* No share any more; it may still grow with the threads. */
void rules_make_no_share(struct scaling *scaling);

/* Makes all of the pool's nodes follow the rule, and may add nodes and objects to the model. 0, or
 * -1 and `error`: each thread cannot have its own of what others hand out. */
int rules_apply(struct pool_graph *graph, enum partition rule, struct error *error);

#endif
