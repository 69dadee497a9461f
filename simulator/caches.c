#include "simulator/caches.h"

#include <math.h>

#define PRECISE_NS 1.0

void caches_enter(struct engine *engine, struct thread *thread, int index) {
    struct core *core = &engine->cores[index];
    const struct plan_pool *pool = &engine->plan->pools[thread->pool];
    core->entered_ns = engine->now_ns;
    if (pool->refill.n_points == 0 || thread->cache_core == PLAN_NONE)
        return; /* what a thread's first steps cost is part of what was measured of them */
    double left = thread->cache_core == index ? exp(thread->displaced - core->displaced) : 0;
    refill_lose(pool->refill, engine->now_ns - thread->ran_ns, left, &thread->missing_ns);
}

void caches_leave(struct engine *engine, struct thread *thread, int index) {
    struct core *core = &engine->cores[index];
    core->displaced +=
        engine->plan->pools[thread->pool].displaces_per_ns * (engine->now_ns - core->entered_ns);
    thread->displaced = core->displaced;
    thread->cache_core = index;
}

double caches_cold_start(const struct engine *engine, const struct thread *thread) {
    const struct plan_pool *pool = &engine->plan->pools[thread->pool];
    if (pool->cold_ns <= 0 || isinf(thread->ran_ns))
        return 0;
    return pool->cold_ns * -expm1((thread->ran_ns - engine->now_ns) / pool->cold_pace_ns);
}

double caches_refill(struct engine *engine, struct thread *thread, double demand_ns) {
    thread->demand_ns = demand_ns;
    thread->missed_ns = thread->missing_ns;
    if (thread->missing_ns <= 0)
        return 0;
    return refill_regain(engine->plan->pools[thread->pool].refill, demand_ns, &thread->missing_ns);
}

double caches_interrupt(struct engine *engine, struct thread *thread, double left_ns) {
    if (thread->missed_ns <= 0 || isinf(left_ns)) /* who spins for ever has no demand */
        return left_ns;
    struct refill_curve refill = engine->plan->pools[thread->pool].refill;
    double all_ns = thread->demand_ns + thread->missed_ns - thread->missing_ns;
    double ran_ns = all_ns - left_ns, computed_ns = 0, step_ns = INFINITY;
    while (step_ns > PRECISE_NS) { /* Newton's, from below: it never gets above */
        thread->missing_ns = thread->missed_ns;
        double regained_ns = refill_regain(refill, computed_ns, &thread->missing_ns);
        double slope = 1 + thread->missing_ns / refill_pace_ns(refill);
        step_ns = (ran_ns - computed_ns - regained_ns) / slope;
        computed_ns += step_ns;
    }
    return fmax(thread->demand_ns - computed_ns, 0);
}
