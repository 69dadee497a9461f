#include "cli/prediction/other_run.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/prediction/prediction.h"
#include "modelgen/modelgen.h"
#include "simulator/simulator.h"

/* What the pools of the model compute with as many threads as those of the other one, by name;
 * NaN: not known, as everything waits for nothing. The caller frees. */
static double *simulate_as(const struct model *model, const struct model *other) {
    const struct thread_choice own = {.label = "own"};
    struct error unused;
    double *cpu_ns = memory_alloc(model->n_pools, sizeof *cpu_ns);
    int *threads = thread_choice_resolve(&own, model, &unused);
    for (size_t p = 0; threads && p < model->n_pools; p++) {
        int same = model_find_pool(other, model->pools[p].name);
        if (model->pools[p].scales && same != MODEL_NONE)
            threads[p] = other->pools[same].profiled_threads;
    }
    const struct sim_config config = {
        .seed = 1, .cores = model->machine.cores, .pool_threads = threads};
    struct sim_result result = {0};
    bool done = threads && sim_predict(model, &config, &result, &unused) == 0;
    for (size_t p = 0; p < model->n_pools; p++)
        cpu_ns[p] = done && result.stalls == 0
                        ? result.pools[p].threads * result.pools[p].cpu_ns.mean
                        : NAN;
    if (done)
        sim_result_free(&result);
    free(threads);
    return cpu_ns;
}

int other_run_apply(struct model *model, const char *directory, struct error *error) {
    struct model *other = prediction_load_model(directory, NULL, error);
    if (!other)
        return error_prefix(error, "%s", directory);
    double *simulated_ns = simulate_as(model, other);
    for (size_t p = 0; p < model->n_pools; p++) {
        int same = model_find_pool(other, model->pools[p].name);
        if (same == MODEL_NONE)
            continue;
        const struct pool *pool = &other->pools[same];
        modelgen_learn_rule(model, (int)p,
                            (struct pool_seen){pool->profiled_threads, pool->profiled_cpu_ns},
                            simulated_ns[p]);
    }
    free(simulated_ns);
    model_free(other);
    return 0;
}
