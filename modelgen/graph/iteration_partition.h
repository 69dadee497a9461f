/* How often threads went over loops, how many rounds they made there, and what these numbers tell
 * of how the rounds of a loop are shared out among the threads of a pool. */
#ifndef PERSIK_MODELGEN_GRAPH_ITERATION_PARTITION_H
#define PERSIK_MODELGEN_GRAPH_ITERATION_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/facts.h"
#include "model/partition.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/threads/thread_pools.h"

/* One pass of a thread over a loop, or over a stretch with a loop in it. */
struct loop_pass {
    size_t thread;  /* of the trace */
    uint64_t at_ns; /* when it begins */
    double rounds;  /* 0: not known */
};

struct loop_passes {
    struct loop_pass *items;
    size_t count, capacity;
};

/* Per thread of the trace, up to the pool's last one, `n` in all: where it stands in the pool + 1;
 * 0: nowhere. The caller frees. */
size_t *loop_passes_positions(const struct thread_pool *pool, size_t *n);

/* Per pass, its round * pool->size + the number of its thread among those that lived at one time.
 * Threads that are created anew each time go on counting rounds where those before them stopped.
 * The caller frees; NULL unless all that lived at one time made equally many passes. */
size_t *loop_passes_numbers(const struct loop_passes *passes, const struct thread_pool *pool);

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
    double by_pieces_ns; /* of that in loops in which the threads take or wait for something */
    const struct facts_loop *by_pieces;
    double hidden_share; /* of the computation in such a loop, between two calls, by the samples */
    const struct facts_loop *hidden;
    const char
        *one_at_times; /* where one thread alone comes to, in some of its rounds; NULL: none */
    double batch;      /* items that a thread takes at once of a queue, on average; 0: one */
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
