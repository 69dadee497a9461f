/* Rounds that the threads of a pool make in a loop, and what their numbers tell of how its rounds
 * are shared out. */
#ifndef PERSIK_MODELGEN_GRAPH_ITERATION_PARTITION_H
#define PERSIK_MODELGEN_GRAPH_ITERATION_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/facts.h"
#include "model/partition.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/graph/loop_passes.h"
#include "modelgen/threads/thread_pools.h"

/* Items that a team shares out, as the numbers of rounds suggest. */
struct iteration_partition_fit {
    enum rest rest; /* REST_NONE: they fit no way of sharing out a total */
    double total;
    bool uneven; /* the rounds differ between the threads: a total that does not divide */
};

/* What the rounds of a pool's loops tell, gathered while its graph is made: what the pool's rule is
 * decided by. Times are of all threads together. */
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

/* Adds what the numbers of rounds of one loop suggest. */
void iteration_partition_note(struct partition_evidence *evidence,
                              const struct iteration_partition_fit *fit);

/* Do the rounds fit a total shared out in one of the ways in each generation and each of as
 * many passes by every thread? `told`: what the source says, tried first; the only one when the
 * total divides evenly, where all ways look alike (then REST_EVEN, unless told). */
struct iteration_partition_fit iteration_partition_fit(const struct loop_passes *passes,
                                                       const struct thread_pool *pool,
                                                       enum rest told);

/* CPU that each of the pool's threads uses on average, in all and outside of its rounds: those of
 * the call that it makes most often. `timelines`: per thread of the trace. */
struct iteration_partition_cpu {
    double all_ns, outside_ns;
};
struct iteration_partition_cpu iteration_partition_cpu(const struct trace *trace,
                                                       const struct thread_states *timelines,
                                                       const struct thread_pool *pool);

#endif
