#include "modelgen/pools.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/source.h"

struct pool_list {
    struct thread_pool *items;
    size_t count, capacity;
};

static void name_pools(struct pool_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        int same_before = 0;
        for (size_t j = 0; j < i; j++)
            same_before += strcmp(list->items[j].start_routine, list->items[i].start_routine) == 0;
        struct thread_pool *pool = &list->items[i];
        pool->name = same_before ? memory_format("%s#%d", pool->start_routine, same_before + 1)
                                 : memory_strdup(pool->start_routine);
    }
}

/* The most threads of the pool that lived at one time. */
static int largest_overlap(const struct trace *trace, const struct thread_pool *pool) {
    int largest = 0;
    for (size_t i = 0; i < pool->n_threads; i++) {
        uint64_t moment = trace->threads[pool->threads[i]].start_ns;
        int alive = 0;
        for (size_t j = 0; j < pool->n_threads; j++) {
            const struct trace_thread *other = &trace->threads[pool->threads[j]];
            alive += other->start_ns <= moment && moment < other->end_ns;
        }
        largest = alive > largest ? alive : largest;
    }
    return largest ? largest : 1;
}

/* A pool whose threads are all started before any of it works counts in full, even when the first
 * ones end before the last ones start: they are created in one go by one thread. */
static int pool_size(const struct trace *trace, const struct thread_pool *pool) {
    if (pool->team)
        return pool->team->size;
    int overlap = largest_overlap(trace, pool);
    size_t burst = 1, largest_burst = 1;
    for (size_t i = 1; i < pool->n_threads; i++) {
        const struct trace_thread *before = &trace->threads[pool->threads[i - 1]];
        const struct trace_thread *thread = &trace->threads[pool->threads[i]];
        burst = thread->start_ns - before->start_ns < 1000000 ? burst + 1 : 1;
        largest_burst = burst > largest_burst ? burst : largest_burst;
    }
    return (int)largest_burst > overlap ? (int)largest_burst : overlap;
}

static bool created_per_thread(const struct trace *trace, const struct facts *facts,
                               const struct thread_pool *pool) {
    if (!facts || pool->creation_context == TRACE_NO_CONTEXT)
        return false;
    const struct trace_context *context = &trace->contexts[pool->creation_context];
    for (size_t c = 0; c < facts->n_creations; c++) {
        const struct facts_creation *creation = &facts->creations[c];
        if (creation->object != ON_THREAD || !creation->per_thread)
            continue;
        for (size_t f = 0; f < context->n_frames; f++)
            if (context->frames[f].line == creation->place.line &&
                strcmp(context->frames[f].function, creation->place.function) == 0)
                return true;
    }
    return false;
}

/* Is `pool` more likely than `other` what --threads means? A lone helper may well compute more
 * than a whole pool. */
static bool more_likely_asked_for(const struct thread_pool *pool, const struct thread_pool *other) {
    if ((pool->size > 1) != (other->size > 1))
        return pool->size > 1;
    return pool->cpu_ns > other->cpu_ns;
}

/* --threads changes the pools that the source creates in a loop over the thread count; where that
 * loop also serves pools of another size (a general "create pool" function), or without source,
 * those as large as the one that computes most, of those with more than one thread if there are
 * any. */
static void decide_scaling(const struct trace *trace, const struct facts *facts,
                           struct thread_pools *pools) {
    const struct thread_pool *busiest = NULL;
    bool any_from_source = false;
    for (size_t i = 0; i < pools->n_pools; i++) {
        struct thread_pool *pool = &pools->pools[i];
        bool told = created_per_thread(trace, facts, pool);
        any_from_source |= told;
    }
    for (size_t i = 0; i < pools->n_pools; i++) {
        struct thread_pool *pool = &pools->pools[i];
        bool candidate =
            pool->creator >= 0 && (!any_from_source || created_per_thread(trace, facts, pool));
        if (candidate && (!busiest || more_likely_asked_for(pool, busiest)))
            busiest = pool;
    }
    pools->guessed = !any_from_source;
    for (size_t i = 0; busiest && i < pools->n_pools; i++) {
        struct thread_pool *pool = &pools->pools[i];
        bool told = created_per_thread(trace, facts, pool);
        if (pool->team && pool->team->is_default) {
            pool->scales = true;
            pool->why = "its parallel region takes the usual number of threads";
            continue;
        }
        if (pool->team && pool->size > 1 && pool->size == busiest->size) { /* no source says more */
            pool->scales = true;
            pool->why = "its parallel region asks for as many threads as the busiest pool has";
            continue;
        }
        if (pool->creator < 0 || pool->size != busiest->size || (any_from_source && !told))
            continue;
        pool->scales = pool == busiest || pool->size > 1;
        pool->why = told ? "created in a loop over the thread count"
                         : "as many threads as the busiest pool";
    }
}

struct thread_pools pools_find(const struct trace *trace, const struct teams *teams,
                               const struct facts *facts, const double *thread_cpu_ns) {
    struct thread_pools pools = {0};
    struct pool_list list = {0};
    struct map known = MAP_EMPTY;
    uint32_t *places = source_places(trace);
    pools.pool_of = memory_alloc(trace->n_threads, sizeof(int));
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        int creator = thread->creator >= 0 ? pools.pool_of[thread->creator] : -1;
        uint32_t context = thread->creation_context;
        uint64_t place = context == TRACE_NO_CONTEXT ? context : places[context];
        uint64_t key = map_mix(map_mix(5, place), (uint64_t)creator);
        key = map_mix_text(key, thread->start_routine);
        const struct team *team = teams_of(teams, t);
        if (team) /* one team whatever the calls that lead to its region */
            key = map_mix(map_mix(7, (uint64_t)(team - teams->teams)), (uint64_t)creator);
        int index = map_get(&known, key, -1);
        if (index < 0) {
            index = (int)list.count;
            map_put(&known, key, index);
            *VECTOR_ADD(&list) = (struct thread_pool){.start_routine = thread->start_routine,
                                                      .creation_context = thread->creation_context,
                                                      .creator = creator,
                                                      .team = team,
                                                      .why = "one place creates it, always alike"};
        }
        assert(list.items); /* the map knows only what is in the list */
        struct thread_pool *pool = &list.items[index];
        pool->threads = memory_resize(pool->threads, pool->n_threads + 1, sizeof(size_t));
        pool->threads[pool->n_threads++] = t;
        pool->cpu_ns += thread_cpu_ns[t];
        pool->with_creator |= creator >= 0 && thread->tid == trace->threads[thread->creator].tid;
        pools.pool_of[t] = index;
    }
    map_free(&known);
    free(places);
    name_pools(&list);
    for (size_t i = 0; i < list.count; i++)
        list.items[i].size = pool_size(trace, &list.items[i]);
    pools.pools = list.items;
    pools.n_pools = list.count;
    decide_scaling(trace, facts, &pools);
    return pools;
}

void pools_free(struct thread_pools *pools) {
    for (size_t i = 0; i < pools->n_pools; i++) {
        free(pools->pools[i].name);
        free(pools->pools[i].threads);
    }
    free(pools->pools);
    free(pools->pool_of);
}
