#include "modelgen/threads/threads_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int check_thread(const struct trace *trace, const struct thread_pools *pools, size_t t,
                        struct error *error) {
    const struct trace_thread *thread = &trace->threads[t];
    struct thread_origin origin = thread_origin_of(pools->origins, t);
    if (thread->creator < -1 || thread->creator >= (int)trace->n_threads)
        return error_set(error, "thread %zu was created by %d, of %zu threads", t, thread->creator,
                         trace->n_threads);
    if (thread->start_ns > thread->end_ns)
        return error_set(error, "thread %zu ends before it begins", t);
    if (origin.part_of != -1 && origin.part_of != thread->creator)
        return error_set(error, "thread %zu is a part of %d, but was created by %d", t,
                         origin.part_of, thread->creator);
    if (pools->pool_of[t] < 0 || pools->pool_of[t] >= (int)pools->n_pools)
        return error_set(error, "thread %zu is in pool %d, of %zu", t, pools->pool_of[t],
                         pools->n_pools);
    return 0;
}

static int check_members(const struct trace *trace, const struct thread_pools *pools, size_t p,
                         bool *is_listed, struct error *error) {
    const struct thread_pool *pool = &pools->pools[p];
    for (size_t i = 0; i < pool->n_threads; i++) {
        size_t t = pool->threads[i];
        if (t >= trace->n_threads || pools->pool_of[t] != (int)p)
            return error_set(error, "pool %s lists thread %zu, which is not its own", pool->name,
                             t);
        if (is_listed[t])
            return error_set(error, "pool %s lists thread %zu twice", pool->name, t);
        is_listed[t] = true;
    }
    return 0;
}

static int check_pool(const struct thread_pools *pools, size_t p, struct error *error) {
    const struct thread_pool *pool = &pools->pools[p];
    if (!pool->name || !*pool->name)
        return error_set(error, "pool %zu has no name", p);
    for (size_t other = 0; other < p; other++)
        if (strcmp(pools->pools[other].name, pool->name) == 0)
            return error_set(error, "two pools are called %s", pool->name);
    if (pool->size < 1 || (size_t)pool->size > pool->n_threads)
        return error_set(error, "pool %s has %d threads at a time, of %zu", pool->name, pool->size,
                         pool->n_threads);
    if (pool->creator < -1 || pool->creator >= (int)p)
        return error_set(error, "pool %s stands before the one that creates it", pool->name);
    return 0;
}

int threads_check(const struct trace *trace, const struct thread_pools *pools,
                  struct error *error) {
    int status = 0;
    for (size_t t = 0; t < trace->n_threads && status == 0; t++)
        status = check_thread(trace, pools, t, error);
    bool *is_listed = memory_alloc(trace->n_threads, sizeof *is_listed);
    for (size_t p = 0; p < pools->n_pools && status == 0; p++) {
        status = check_pool(pools, p, error);
        if (status == 0)
            status = check_members(trace, pools, p, is_listed, error);
    }
    for (size_t t = 0; t < trace->n_threads && status == 0; t++)
        if (!is_listed[t])
            status = error_set(error, "thread %zu is in pool %s, which does not list it", t,
                               pools->pools[pools->pool_of[t]].name);
    free(is_listed);
    return status;
}
