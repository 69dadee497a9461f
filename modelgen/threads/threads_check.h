/* The invariants of threads and their pools. */
#ifndef PERSIK_MODELGEN_THREADS_THREADS_CHECK_H
#define PERSIK_MODELGEN_THREADS_THREADS_CHECK_H

#include "base/error.h"
#include "formats/trace.h"
#include "modelgen/threads/thread_pools.h"

/* Each thread is in one pool, which lists it once, and lives from its start to its end; whoever
 * created a thread or a pool is there; pools have names of their own; a part is its creator's. -1
 * and `error`: one of these does not hold. */
int threads_check(const struct trace *trace, const struct thread_pools *pools, struct error *error);

#endif
