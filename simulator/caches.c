#include "simulator/caches.h"

#include <math.h>

void caches_enter(struct engine *engine, struct thread *thread, int index) {
    struct core *core = &engine->cores[index];
    const struct plan_pool *pool = &engine->plan->pools[thread->pool];
    core->entered_ns = engine->now_ns;
    if (pool->n_refill == 0 || thread->cache_core == PLAN_NONE)
        return; /* what a thread's first steps cost is part of what was measured of them */
    double left = thread->cache_core == index ? exp(thread->displaced - core->displaced) : 0;
    double whole_ns =
        model_refill_ns(pool->refill, pool->n_refill, engine->now_ns - thread->ran_ns);
    if (whole_ns > thread->missing_ns)
        thread->missing_ns += (whole_ns - thread->missing_ns) * (1 - left);
}

void caches_leave(struct engine *engine, struct thread *thread, int index) {
    struct core *core = &engine->cores[index];
    core->displaced +=
        engine->plan->pools[thread->pool].displaces_per_ns * (engine->now_ns - core->entered_ns);
    thread->displaced = core->displaced;
    thread->cache_core = index;
}

/* As long as a thread refills its cache it gets on at about half its speed. */
double caches_refill(struct engine *engine, struct thread *thread, double demand_ns) {
    const struct plan_pool *pool = &engine->plan->pools[thread->pool];
    if (thread->missing_ns <= 0)
        return 0;
    double pace_ns = pool->refill[pool->n_refill - 1].cpu_ns;
    double refilled_ns = thread->missing_ns * -expm1(-demand_ns / pace_ns);
    thread->missing_ns -= refilled_ns;
    return refilled_ns;
}
