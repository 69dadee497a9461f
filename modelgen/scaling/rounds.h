/* Rounds that the threads of a pool make in a loop, and what their numbers tell of how its rounds
 * are shared out. */
#ifndef PERSIK_MODELGEN_SCALING_ROUNDS_H
#define PERSIK_MODELGEN_SCALING_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/partition.h"
#include "modelgen/pools/pools.h"
#include "modelgen/run/timeline.h"

/* One pass of a thread over a loop, or over a stretch with a loop in it. */
struct pass {
    size_t thread;  /* of the trace */
    uint64_t at_ns; /* when it begins */
    double rounds;  /* 0: not known */
};

struct passes {
    struct pass *items;
    size_t count, capacity;
};

/* Per thread of the trace, up to the pool's last one, `n` in all: where it stands in the pool + 1;
 * 0: nowhere. The caller frees. */
size_t *rounds_positions(const struct thread_pool *pool, size_t *n);

/* Per pass, its round * pool->size + the number of its thread among those that lived at one time.
 * Threads that are created anew each time go on counting rounds where those before them stopped.
 * The caller frees; NULL unless all that lived at one time made equally many passes. */
size_t *rounds_places(const struct passes *passes, const struct thread_pool *pool);

/* Items that a team shares out, as the numbers of rounds suggest. */
struct rounds_fit {
    enum rest rest; /* REST_NONE: they fit no way of sharing out a total */
    double total;
    bool uneven; /* the rounds differ between the threads: a total that does not divide */
};

/* Do the rounds fit a total shared out in one of the ways in each generation and each of as
 * many passes by every thread? `told`: what the source says, tried first; the only one when the
 * total divides evenly, where all ways look alike (then REST_EVEN, unless told). */
struct rounds_fit rounds_fit(const struct passes *passes, const struct thread_pool *pool,
                             enum rest told);

/* CPU that each of the pool's threads uses on average, in all and outside of its rounds: those of
 * the call that it makes most often. `timelines`: per thread of the trace. */
struct rounds_cpu {
    double all_ns, outside_ns;
};
struct rounds_cpu rounds_cpu(const struct trace *trace, const struct timeline *timelines,
                             const struct thread_pool *pool);

#endif
