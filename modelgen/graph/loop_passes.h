/* How often threads went over loops, and how many rounds they made there. */
#ifndef PERSIK_MODELGEN_GRAPH_LOOP_PASSES_H
#define PERSIK_MODELGEN_GRAPH_LOOP_PASSES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
