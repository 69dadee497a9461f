#include "modelgen/calibrate/cache_reload_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/scheduling_events.h"

static const struct cache_reload_cost *
find_reload_cost(const struct cache_reload_costs *reload_costs, uint64_t role) {
    for (size_t r = 0; r < reload_costs->count; r++)
        if (reload_costs->items[r].role == role)
            return &reload_costs->items[r];
    return NULL;
}

/* ---- the recorded run ---- */

/* A thread that has run before. */
struct returner {
    const struct cache_reload_cost *refill; /* NULL: nothing is known of it */
    size_t next_slice;
    uint32_t cpu;
    uint64_t left_ns; /* 0: it has not run yet */
    double displaced; /* of its core, when it left */
    double missing_ns;
};

static struct refill_curve curve_of(const struct cache_reload_cost *refill) {
    return (struct refill_curve){refill->n_points, refill->points};
}

/* The slice's part in it is spread over twice as long, as the thread gets on at half speed. */
static void charge(struct returner *thread, const struct trace_slice *slice,
                   struct excluded_time *losses) {
    double ran_ns = (double)(slice->off_ns - slice->on_ns);
    double refilled_ns = refill_regain(curve_of(thread->refill), ran_ns, &thread->missing_ns);
    double spread_ns = fmin(2 * refilled_ns, ran_ns);
    if (spread_ns >= 1)
        *VECTOR_ADD(losses) =
            (struct excluded_interval){slice->on_ns, slice->on_ns + (uint64_t)spread_ns,
                                       fmin(refilled_ns / floor(spread_ns), 1), slice->cpu};
}

static void run_slice(struct returner *thread, const struct trace_slice *slice, double *displaced,
                      struct excluded_time *losses) {
    const struct cache_reload_cost *refill = thread->refill;
    if (refill && refill->n_points && thread->left_ns) {
        double left = thread->cpu == slice->cpu ? exp(thread->displaced - *displaced) : 0;
        refill_lose(curve_of(refill), (double)(slice->on_ns - thread->left_ns), left,
                    &thread->missing_ns);
        charge(thread, slice, losses);
    }
    if (refill)
        *displaced += refill->displaces_per_ns * (double)(slice->off_ns - slice->on_ns);
    thread->displaced = *displaced;
    thread->cpu = slice->cpu;
    thread->left_ns = slice->off_ns;
}

static bool costs_something(const struct cache_reload_costs *reload_costs) {
    for (size_t r = 0; reload_costs && r < reload_costs->count; r++)
        if (reload_costs->items[r].n_points)
            return true;
    return false;
}

struct excluded_time cache_reload_time_find(const struct trace *recorded,
                                            const struct cache_reload_costs *reload_costs) {
    struct excluded_time losses = {0};
    if (!costs_something(reload_costs))
        return losses;
    struct returner *threads = memory_alloc(recorded->n_threads, sizeof *threads);
    double *displaced = memory_alloc(SCHEDULING_CORES, sizeof *displaced);
    for (size_t t = 0; t < recorded->n_threads; t++)
        threads[t].refill = find_reload_cost(reload_costs, fragments_role(recorded, t));
    struct scheduling_events moments = scheduling_events_collect(recorded);
    for (size_t i = 0; i < moments.count; i++) {
        const struct scheduling_event *moment = &moments.items[i];
        if (moment->kind != SCHEDULING_ON || moment->cpu >= SCHEDULING_CORES)
            continue;
        struct returner *thread = &threads[moment->thread];
        const struct trace_slice *slice =
            &recorded->threads[moment->thread].slices[thread->next_slice++];
        run_slice(thread, slice, &displaced[slice->cpu], &losses);
    }
    scheduling_events_free(&moments);
    free(threads);
    free(displaced);
    excluded_time_sort(&losses);
    return losses;
}

/* ---- the model ---- */

/* Of the pool's thread that computes most. */
static uint64_t role_of_pool(const struct trace *recorded, const struct thread_pools *pools,
                             size_t p, const double *cpu_ns) {
    const struct thread_pool *pool = &pools->pools[p];
    size_t most = pool->threads[0];
    for (size_t i = 1; i < pool->n_threads; i++)
        if (cpu_ns[pool->threads[i]] > cpu_ns[most])
            most = pool->threads[i];
    return fragments_role(recorded, (size_t)thread_origin_of(pools->origins, most).recorded);
}

void cache_reload_time_write(const struct trace *recorded,
                             const struct cache_reload_costs *reload_costs,
                             const struct thread_pools *pools, const double *cpu_ns,
                             struct model *model) {
    if (!costs_something(reload_costs))
        return;
    for (size_t p = 0; p < pools->n_pools; p++) {
        const struct cache_reload_cost *refill =
            find_reload_cost(reload_costs, role_of_pool(recorded, pools, p, cpu_ns));
        struct pool *pool = &model->pools[p];
        if (!refill)
            continue;
        pool->displaces_per_ns = refill->displaces_per_ns;
        pool->n_refill = refill->n_points;
        pool->refill = memory_alloc(refill->n_points, sizeof *pool->refill);
        memcpy(pool->refill, refill->points, refill->n_points * sizeof *pool->refill);
    }
}
