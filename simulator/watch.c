/* One run with an observer. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "simulator/engine.h"
#include "simulator/plan_make.h"

static void tell_pools(const struct plan *plan, const struct sim_observer *observer) {
    int *pools = memory_alloc((size_t)plan->n_threads, sizeof *pools);
    for (int pool = 0; pool < plan->n_pools; pool++)
        for (int i = 0; i < plan->pools[pool].threads; i++)
            pools[plan->pools[pool].first_thread + i] = pool;
    observer->begins(observer->context, plan->n_threads, pools);
    free(pools);
}

static int run(const struct plan *plan, uint64_t seed, const struct sim_observer *observer,
               struct error *error) {
    struct engine *engine = engine_make(plan);
    engine->observer = observer;
    tell_pools(plan, observer);
    int status = engine_run(engine, seed, 0);
    if (status < 0)
        error_set(error, "%s", engine->failure);
    observer->ends(observer->context, engine->now_ns);
    engine_free(engine);
    return status;
}

int sim_watch(const struct model *model, const struct sim_config *config,
              const struct sim_observer *observer, struct error *error) {
    struct plan *plan = plan_make(model, config, error);
    if (plan && plan->is_steady) {
        struct sim_config cut = *config;
        cut.horizon_ns = model->measured_run_ns;
        plan_free(plan);
        plan = plan_make(model, &cut, error);
    }
    int status = plan ? run(plan, config->seed, observer, error) : -1;
    plan_free(plan);
    return status;
}
