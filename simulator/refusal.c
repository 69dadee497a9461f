#include <string.h>

#include "simulator/simulator.h"

static enum sim_refusal of_pool(const struct pool *pool, int own_threads, int threads, int cores,
                                bool other_cores) {
    bool others = threads != own_threads;
    if (pool->given_ns > 0 && (others || other_cores))
        return SIM_REFUSAL_GIVEN_TIME;
    if (pool->partition == PARTITION_UNKNOWN && others)
        return SIM_REFUSAL_UNKNOWN_RULE;
    if (model_is_said(pool->capped) && threads > cores && (others || other_cores))
        return SIM_REFUSAL_CAPPED;
    if (model_is_said(pool->remade) && others && (threads > own_threads || cores > 1))
        return SIM_REFUSAL_REMADE;
    if (model_is_said(pool->one_thread) && threads == 1 && others)
        return SIM_REFUSAL_ONE_THREAD;
    return SIM_REFUSAL_NONE;
}

enum sim_refusal sim_refusal_of(const struct model *model, const int *own_threads,
                                const int *pool_threads, int cores, const struct pool **of) {
    bool other_cores = cores != model->machine.cores;
    bool is_own = !other_cores &&
                  memcmp(pool_threads, own_threads, model->n_pools * sizeof *own_threads) == 0;
    *of = NULL;
    if (model_is_said(model->standstill)) /* luck does not make the others right */
        return SIM_REFUSAL_STANDSTILL;
    if (model_is_said(model->unpredicted) && !is_own)
        return SIM_REFUSAL_UNPREDICTED;
    if (model_is_said(model->asks_cores) && other_cores)
        return SIM_REFUSAL_OTHER_CORES;
    for (size_t p = 0; p < model->n_pools; p++) {
        *of = &model->pools[p];
        enum sim_refusal refusal =
            of_pool(*of, own_threads[p], pool_threads[p], cores, other_cores);
        if (refusal != SIM_REFUSAL_NONE)
            return refusal;
    }
    return SIM_REFUSAL_NONE;
}
