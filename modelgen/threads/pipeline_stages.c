#include "modelgen/threads/pipeline_stages.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/critical_sections.h"
#include "modelgen/events/event_cursor.h"

/* That a thread uses an object at a place. */
struct use {
    int thread, object, site;
};

struct uses {
    struct use *items; /* each once */
    size_t count, capacity;
    int n_objects, n_sites;
};

/* ---- who uses what ---- */

static uint64_t key_of(const struct trace_record *record) {
    return map_mix(map_mix(1, api_catalog[record->api].object), record->object);
}

/* Mutexes that somebody held who waited for a condition. */
static struct map find_monitors(const struct trace *trace) {
    struct map monitors = MAP_EMPTY;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_record *held = NULL; /* locked last */
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at);) {
            if (trace_is_lock(at.event))
                held = at.event;
            else if (trace_is_call(at.event, ON_MUTEX, OP_UNLOCK))
                held = NULL;
            else if (held && trace_is_condition_wait(at.event))
                map_put(&monitors, key_of(held), 1);
        }
    }
    return monitors;
}

static bool tells(const struct trace_record *record, const struct map *monitors) {
    const struct api_info *info = &api_catalog[record->api];
    if (record->context == TRACE_NO_CONTEXT || info->op == OP_INIT || info->op == OP_DESTROY)
        return false;
    return info->object == ON_SEMAPHORE || info->object == ON_ITEMS ||
           (trace_is_lock(record) && map_get(monitors, key_of(record), 0) > 0);
}

static int number_of(struct map *numbers, uint64_t key, int *count) {
    int number = map_get(numbers, key, -1);
    if (number >= 0)
        return number;
    map_put(numbers, key, *count);
    return (*count)++;
}

static struct uses find_uses(const struct trace *trace, const uint32_t *places) {
    struct uses uses = {0};
    struct map monitors = find_monitors(trace), objects = MAP_EMPTY, sites = MAP_EMPTY,
               known = MAP_EMPTY;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        if (!tells(at.event, &monitors))
            continue;
        struct use use = {.thread = (int)at.thread,
                          .object = number_of(&objects, key_of(at.event), &uses.n_objects),
                          .site = number_of(&sites, places[at.event->context], &uses.n_sites)};
        uint64_t key =
            map_mix(map_mix(map_mix(2, at.thread), (uint64_t)use.object), (uint64_t)use.site);
        if (map_get(&known, key, 0) > 0)
            continue;
        map_put(&known, key, 1);
        *VECTOR_ADD(&uses) = use;
    }
    map_free(&monitors);
    map_free(&objects);
    map_free(&sites);
    map_free(&known);
    return uses;
}

/* The uses at sites to which all threads of the user's group come: what only some did may be by
 * chance. */
static struct uses keep_common(const struct uses *uses, const int *group_of, size_t n_threads,
                               size_t n_groups) {
    struct uses kept = {.n_objects = uses->n_objects, .n_sites = uses->n_sites};
    size_t n_sites = (size_t)uses->n_sites;
    int *threads_of = memory_alloc(n_groups + 1, sizeof *threads_of);
    int *visitors = memory_alloc(n_groups * n_sites + 1, sizeof *visitors);
    bool *seen = memory_alloc(n_threads * n_sites + 1, sizeof *seen);
    for (size_t t = 0; t < n_threads; t++)
        threads_of[group_of[t]]++;
    for (size_t u = 0; u < uses->count; u++) {
        const struct use *use = &uses->items[u];
        bool *before = &seen[(size_t)use->thread * n_sites + (size_t)use->site];
        visitors[(size_t)group_of[use->thread] * n_sites + (size_t)use->site] += !*before;
        *before = true;
    }
    for (size_t u = 0; u < uses->count; u++) {
        int group = group_of[uses->items[u].thread];
        if (visitors[(size_t)group * n_sites + (size_t)uses->items[u].site] == threads_of[group])
            *VECTOR_ADD(&kept) = uses->items[u];
    }
    free(threads_of);
    free(visitors);
    free(seen);
    return kept;
}

/* ---- who could be a stage ---- */

/* Per pool and site: does a thread use several objects there? Then it goes from one to another. */
static bool *find_unsettled(const struct uses *uses, const int *pool_of, size_t n_threads,
                            size_t n_pools) {
    size_t n_sites = (size_t)uses->n_sites;
    bool *seen = memory_alloc(n_threads * n_sites + 1, sizeof *seen);
    bool *unsettled = memory_alloc(n_pools * n_sites + 1, sizeof *unsettled);
    for (size_t u = 0; u < uses->count; u++) {
        const struct use *use = &uses->items[u];
        bool *before = &seen[(size_t)use->thread * n_sites + (size_t)use->site];
        unsettled[(size_t)pool_of[use->thread] * n_sites + (size_t)use->site] |= *before;
        *before = true;
    }
    free(seen);
    return unsettled;
}

/* Per thread: the number of those of its pool with the same objects at the sites that all of the
 * pool come to, and where each of them stays with one. */
static int *find_crowds(const struct uses *uses, const int *pool_of, size_t n_threads,
                        size_t n_pools, int *n_crowds) {
    uint64_t *holdings = memory_alloc(n_threads + 1, sizeof *holdings);
    int *crowd_of = memory_alloc(n_threads + 1, sizeof *crowd_of);
    bool *unsettled = find_unsettled(uses, pool_of, n_threads, n_pools);
    struct map numbers = MAP_EMPTY;
    for (size_t u = 0; u < uses->count; u++) {
        const struct use *use = &uses->items[u];
        size_t pool = (size_t)pool_of[use->thread];
        if (!unsettled[pool * (size_t)uses->n_sites + (size_t)use->site])
            holdings[use->thread] +=
                map_mix(map_mix(5, (uint64_t)use->object), (uint64_t)use->site);
    }
    for (size_t t = 0; t < n_threads; t++)
        crowd_of[t] = number_of(&numbers, map_mix(holdings[t], (uint64_t)pool_of[t]), n_crowds);
    map_free(&numbers);
    free(unsettled);
    free(holdings);
    return crowd_of;
}

/* ---- roles ---- */

/* A thread's role is what it uses, and where; an object's is who uses it, and where. Both begin
 * alike, and are told apart by each other until nothing changes. Sums do not depend on the order of
 * what is summed up; each different one counts once. */
struct roles {
    uint64_t *threads, *objects;
};

static size_t count_different(const uint64_t *values, size_t n) {
    struct map seen = MAP_EMPTY;
    for (size_t i = 0; i < n; i++)
        map_put(&seen, values[i], 1);
    size_t count = seen.count;
    map_free(&seen);
    return count;
}

/* One more round: of the threads by their objects, or of the objects by their threads. */
static void refine(const struct uses *uses, const uint64_t *by, bool threads, uint64_t *roles,
                   size_t n) {
    uint64_t *sums = memory_alloc(n + 1, sizeof *sums);
    struct map counted = MAP_EMPTY;
    for (size_t u = 0; u < uses->count; u++) {
        const struct use *use = &uses->items[u];
        size_t own = (size_t)(threads ? use->thread : use->object);
        uint64_t term =
            map_mix(map_mix(3, (uint64_t)use->site), by[threads ? use->object : use->thread]);
        uint64_t key = map_mix(map_mix(4, own), term);
        if (map_get(&counted, key, 0) == 0)
            sums[own] += term;
        map_put(&counted, key, 1);
    }
    for (size_t i = 0; i < n; i++)
        roles[i] = map_mix(roles[i], sums[i]);
    map_free(&counted);
    free(sums);
}

static struct roles find_roles(const struct uses *uses, const int *pool_of, size_t n_threads) {
    size_t n_objects = (size_t)uses->n_objects;
    struct roles roles = {memory_alloc(n_threads + 1, sizeof(uint64_t)),
                          memory_alloc(n_objects + 1, sizeof(uint64_t))};
    for (size_t t = 0; t < n_threads; t++)
        roles.threads[t] = (uint64_t)pool_of[t];
    size_t different = 0, before;
    do {
        before = different;
        refine(uses, roles.threads, false, roles.objects, n_objects);
        refine(uses, roles.objects, true, roles.threads, n_threads);
        different = count_different(roles.threads, n_threads);
    } while (different > before);
    return roles;
}

/* ---- stages ---- */

/* Numbers the pool's stages; all 0 when it has none. */
static void find_in_pool(const int *pool_of, int pool, size_t n_threads, const int *crowd_of,
                         const struct roles *roles, int *stages) {
    struct map numbers = MAP_EMPTY, parts = MAP_EMPTY;
    int n_stages = 0, n_parts = 0;
    int *sizes = memory_alloc(n_threads + 1, sizeof *sizes);
    for (size_t t = 0; t < n_threads; t++) {
        if (pool_of[t] != pool)
            continue;
        stages[t] = number_of(&numbers, (uint64_t)crowd_of[t], &n_stages);
        sizes[stages[t]]++;
        number_of(&parts, roles->threads[t], &n_parts);
    }
    bool any_shared = false;
    for (int s = 0; s < n_stages; s++)
        any_shared |= sizes[s] > 1;
    bool are_stages = n_stages > 1 && n_parts == n_stages && any_shared;
    for (size_t t = 0; t < n_threads; t++)
        if (pool_of[t] == pool && !are_stages)
            stages[t] = 0;
    map_free(&numbers);
    map_free(&parts);
    free(sizes);
}

int *pipeline_stages_find(const struct trace *trace, const uint32_t *places, const int *pool_of,
                          size_t n_pools) {
    size_t n = trace->n_threads;
    int *stages = memory_alloc(n + 1, sizeof *stages);
    struct uses all = find_uses(trace, places);
    struct uses of_pools = keep_common(&all, pool_of, n, n_pools);
    int n_crowds = 0;
    int *crowd_of = find_crowds(&of_pools, pool_of, n, n_pools, &n_crowds);
    struct uses of_crowds = keep_common(&all, crowd_of, n, (size_t)n_crowds);
    struct roles roles = find_roles(&of_crowds, pool_of, n);
    for (size_t p = 0; p < n_pools; p++)
        find_in_pool(pool_of, (int)p, n, crowd_of, &roles, stages);
    free(roles.threads);
    free(roles.objects);
    free(crowd_of);
    free(of_crowds.items);
    free(of_pools.items);
    free(all.items);
    return stages;
}
