/* Appending to a model under construction. */
#ifndef PERSIK_MODELGEN_GRAPH_MODEL_BUILDER_H
#define PERSIK_MODELGEN_GRAPH_MODEL_BUILDER_H

#include <stdbool.h>

#include "formats/facts.h"
#include "formats/model.h"
#include "modelgen/threads/thread_pools.h"

/* Appends the thread pools, in their order. `cpu_ns`: of each thread of the trace. */
void model_builder_pools(const struct trace *trace, const struct thread_pools *pools,
                         const double *cpu_ns, struct model *model);

/* Appends copies of the edges for `when` that do not leave a loop; false: there are none. */
bool model_builder_copy_edges(const struct node *from, enum outcome when, struct node *to);

/* Does any thread say that there is no more of the object's? */
bool model_builder_is_closed(const struct model *model, int object);

/* Takes away the nodes that no pool's threads can come to; the others are numbered anew. */
void model_builder_remove_unreachable(struct model *model);

/* A number that does not depend on the configuration. */
struct linear model_builder_constant(double value);
/* offset + factor for each of --threads, which pool `p` follows. */
struct linear model_builder_asked(const struct thread_pools *pools, size_t p, double offset,
                                  double factor);
/* What the source says of an amount; where that follows the threads, those of the first pool that
 * thread_pools_follows(). LINEAR_UNKNOWN: nothing is said. */
struct linear model_builder_said(const struct facts_amount *amount,
                                 const struct thread_pools *pools);
/* base + factor * threads of pool. */
struct linear model_builder_per_thread(double base, int pool, double factor);
/* Adds factor * threads of pool. */
void model_builder_add_per_thread(struct linear *amount, int pool, double factor);

/* A share of what the pool's threads do together; `less`: see struct scaling. */
void model_builder_make_share(struct scaling *scaling, int pool, double less);
/* As it was measured, in each thread; who got what of a total is still known. */
void model_builder_make_own(struct scaling *scaling);
/* No share any more; it may still grow with the threads. */
void model_builder_make_no_share(struct scaling *scaling);

/* Rounds as they would be if the items had divided evenly among the `threads` profiled ones. */
void model_builder_even_out(struct dist *stays, const struct scaling *scaling, int threads);

#endif
