#include "cli/prediction/other_run.h"

#include <stdlib.h>

#include "cli/prediction/prediction.h"
#include "modelgen/modelgen.h"
#include "simulator/simulator.h"

/* What its pools did in the run that the model was made of. */
static int simulate(const struct model *model, struct sim_result *result, struct error *error) {
    const struct sim_config config = {.seed = 1, .cores = model->machine.cores};
    if (sim_predict(model, &config, result, error) < 0)
        return -1;
    return result->stalls == 0 ? 0
                               : error_set(error, "simulated as it was recorded, the program comes "
                                                  "to a standstill: its pools tell nothing");
}

static struct pool_seen seen(const struct sim_result *result, size_t pool) {
    const struct sim_pool_result *of = &result->pools[pool];
    return (struct pool_seen){of->threads, of->threads * of->cpu_ns.mean};
}

static void compare(struct model *model, const struct sim_result *result, const struct model *other,
                    const struct sim_result *other_result) {
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        int same = model_find_pool(other, pool->name);
        if (pool->partition == PARTITION_UNKNOWN && pool->given_ns == 0 && same != MODEL_NONE)
            modelgen_learn_rule(model, (int)p, seen(result, p), seen(other_result, (size_t)same));
    }
}

int other_run_apply(struct model *model, const char *directory, struct error *error) {
    struct model *other = prediction_load_model(directory, NULL, error);
    struct sim_result result = {0}, other_result = {0};
    int status = other ? simulate(model, &result, error) : -1;
    if (status == 0)
        status = simulate(other, &other_result, error);
    if (status == 0)
        compare(model, &result, other, &other_result);
    sim_result_free(&result);
    sim_result_free(&other_result);
    model_free(other);
    return status < 0 ? error_prefix(error, "%s", directory) : 0;
}
