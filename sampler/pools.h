/* Thread pools: which threads do the same work.
 *
 * From "Automatic Performance Prediction of Multithreaded Programs: A Simulation Approach" (Tarvo
 * and Reiss, 2017), section 3: threads seen at the same code locations form a pool. */
#ifndef PERSIK_SAMPLER_POOLS_H
#define PERSIK_SAMPLER_POOLS_H

#include <stddef.h>
#include <stdint.h>

/* A set of threads, and the samples of all locations that exactly these threads were seen at. */
struct pools_tuple {
    int *threads; /* ascending */
    size_t n_threads;
    uint64_t count;
};

struct pools_tuples {
    struct pools_tuple *items;
    size_t count, capacity;
};

/* Counts one location: copies `threads` (ascending, at least one). */
void sample_pools_add(struct pools_tuples *tuples, const int *threads, size_t n_threads,
                      uint64_t count);

/* Sets `pool_of[t]` to the index of the tuple that is the pool of thread t, for every thread that
 * is in some tuple; other elements are left as they are.
 *
 * A tuple contained in another with a far larger count (ten times) is spurious: by chance only
 * some of the pool's threads were seen at those locations. Of the others, the smallest that holds a
 * thread is its pool: larger ones are functions that several pools share. */
void sample_pools_assign(const struct pools_tuples *tuples, int *pool_of);

void sample_pools_free(struct pools_tuples *tuples);

#endif
