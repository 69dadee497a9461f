/* The thread pools of a trace whose program has no source and no teams, each thread having computed
 * for as long as the others. */
#ifndef PERSIK_TESTS_SOURCELESS_POOLS_H
#define PERSIK_TESTS_SOURCELESS_POOLS_H

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/threads/thread_pools.h"

/* thread_pools_free() ends them. */
static inline struct thread_pools sourceless_pools(const struct trace *trace) {
    double *cpu_ns = memory_alloc(trace->n_threads, sizeof *cpu_ns);
    for (size_t t = 0; t < trace->n_threads; t++)
        cpu_ns[t] = 1000;
    struct facts no_source = {0};
    struct teams no_teams = {0};
    struct thread_pools pools = thread_pools_find(trace, &no_teams, NULL, &no_source, cpu_ns);
    free(cpu_ns);
    return pools;
}

#endif
