/* What the source tells of the loops that a pool's threads go round, and of those in which they are
 * created. Loops belong to the facts. */
#ifndef PERSIK_MODELGEN_SCALING_POOL_SOURCE_H
#define PERSIK_MODELGEN_SCALING_POOL_SOURCE_H

#include <stdbool.h>

#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/threads/thread_pools.h"

/* Was the source of the pool's threads there? They are known by their calls, or by who creates
 * them. `facts` may be NULL. */
bool pool_source_is_analysed(const struct trace *trace, const struct facts *facts,
                             const struct thread_pool *pool);

/* Does the source show the loops in which the pool's threads make their calls? Where these are not
 * seen, as they are reached through virtual functions, it does not show either what ends them. */
bool pool_source_shows_loops(const struct trace *trace, const struct facts *facts,
                             const struct thread_pool *pool);

/* Its threads are created in a loop over the thread count; but is that in another one of which the
 * source does not tell how often it goes round? NULL: no. `facts` may be NULL. */
const struct facts_loop *pool_source_undecided_creation(const struct trace *trace,
                                                        const struct facts *facts,
                                                        const struct thread_pool *pool);

/* The innermost loop that makes the pool's threads, if it goes round however many live at a time:
 * no loop around the creation goes over the thread count. NULL: none. `facts` may be NULL. */
const struct facts_loop *pool_source_fixed_creation(const struct trace *trace,
                                                    const struct facts *facts,
                                                    const struct thread_pool *pool);

/* Does the creator wait for something between two creations in the loop, which may be what keeps so
 * few alive? */
bool pool_source_creator_waits(const struct trace *trace, const struct thread_pool *pool,
                               const struct facts_loop *loop);

/* How often threads of a pool, and of those that do not follow --threads, take the pool's locks in
 * a loop. */
struct loop_visitors {
    double own, others;
    int other; /* a pool of the others; MODEL_NONE: there are none */
};

/* Of the pool (an index into `pools`) in the loop. */
struct loop_visitors pool_source_visitors(const struct trace *trace,
                                          const struct thread_pools *pools, int pool,
                                          const struct facts_loop *loop);

#endif
