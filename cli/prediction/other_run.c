#include "cli/prediction/other_run.h"

#include "cli/prediction/prediction.h"
#include "modelgen/modelgen.h"

static struct pool_seen seen(const struct pool *pool) {
    return (struct pool_seen){pool->profiled_threads, pool->profiled_cpu_ns};
}

int other_run_apply(struct model *model, const char *directory, struct error *error) {
    struct model *other = prediction_load_model(directory, NULL, error);
    if (!other)
        return error_prefix(error, "%s", directory);
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        int same = model_find_pool(other, pool->name);
        if (pool->partition == PARTITION_UNKNOWN && pool->given_ns == 0 && same != MODEL_NONE)
            modelgen_learn_rule(model, (int)p, seen(pool), seen(&other->pools[same]));
    }
    model_free(other);
    return 0;
}
