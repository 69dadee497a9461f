/* Variations carried out on a model. */
#include <math.h>
#include <stdlib.h>

#include "cli/prediction/variation_graph.h"
#include "cli/sensitivity/variation.h"
#include "modelgen/modelgen.h"

static int change_rule(const struct variation *variation, struct model *model,
                       struct error *error) {
    struct pool *pool = &model->pools[variation->index];
    if (modelgen_repartition(model, variation->index, variation->rule, error) < 0)
        return -1;
    free(pool->one_thread); /* the question is what it would do by this rule */
    pool->one_thread = NULL;
    pool->given_ns = 0;
    return 0;
}

static void scale_scheduler(struct model *model, double factor) {
    model->machine.switch_cpu_ns *= factor;
    model->machine.block_cpu_ns *= factor;
    model->machine.wake_cpu_ns *= factor;
    for (size_t p = 0; p < model->n_pools; p++)
        model->pools[p].sleep_cpu_ns *= factor;
}

static void scale_wake_latency(struct machine *machine, double factor) {
    variation_graph_scale_dist(&machine->wake_latency_ns, factor);
    variation_graph_scale_dist(&machine->brief_latency_ns, factor);
    machine->preempt_ns *= factor;
}

static void scale_cache(struct pool *pool, double factor) {
    for (size_t i = 0; i < pool->n_refill; i++)
        pool->refill[i].cpu_ns *= factor;
    pool->cold_cpu_ns *= factor;
}

/* More than any run can take. */
#define UNLIMITED_TOKENS 1e9

static void lift_limit(struct object *object) {
    free(object->amount.terms);
    object->amount = (struct linear){.base = UNLIMITED_TOKENS};
    object->bounded = false;
}

int variation_apply(const struct variation *variation, struct model *model, struct error *error) {
    int index = variation->index;
    double factor = variation->factor;
    switch (variation->kind) {
    case VARY_POOL_CPU:
        variation_graph_scale_cpu(model, index, factor);
        break;
    case VARY_POOL_SLEEPS:
        variation_graph_scale_waits(model, index, NODE_SLEEP, factor);
        break;
    case VARY_POOL_IO:
        variation_graph_scale_waits(model, index, NODE_IO, factor);
        break;
    case VARY_POOL_CACHE:
        scale_cache(&model->pools[index], factor);
        break;
    case VARY_POOL_RULE:
        return change_rule(variation, model, error);
    case VARY_HOLD:
        variation_graph_scale_hold(model, index, factor);
        break;
    case VARY_AMOUNT:
        model->objects[index].amount.base += variation->step;
        break;
    case VARY_SERVICE:
        variation_graph_scale_dist(&model->objects[index].service_ns, factor);
        break;
    case VARY_BANDWIDTH:
        model->objects[index].bytes_per_s *= factor;
        break;
    case VARY_ARRIVALS:
        variation_graph_scale_dist(&model->objects[index].interarrival_ns, 1 / factor);
        break;
    case VARY_LEFT_OUT:
        variation_graph_leave_out(model, index);
        break;
    case VARY_WAITS_ADDED:
        variation_graph_add_wait(model, model->waiting[index].wait_ns);
        break;
    case VARY_SCHEDULER:
        scale_scheduler(model, factor);
        break;
    case VARY_WAKE_LATENCY:
        scale_wake_latency(&model->machine, factor);
        break;
    case VARY_UNLOCKED:
        variation_graph_unlock(model, index);
        break;
    case VARY_UNLIMITED:
        lift_limit(&model->objects[index]);
        break;
    case VARY_EVEN:
        variation_graph_even(model, index);
        break;
    case VARY_CORES:
    case VARY_THREADS:
    case VARY_CORES_AND_THREADS:
        break;
    }
    return 0;
}

/* Those whose size follows the pool's, unless they have been given another one. */
static void change_threads(const struct model *model, int pool, int step, int *pool_threads) {
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct linear *size = &model->pools[p].threads;
        bool follows =
            size->n_terms > 0 && lround(linear_value(size, pool_threads)) == (long)pool_threads[p];
        double more = 0;
        for (size_t t = 0; t < size->n_terms && follows; t++)
            more += size->terms[t].pool == pool ? step * size->terms[t].factor : 0;
        pool_threads[p] += (int)lround(more);
    }
    pool_threads[pool] += step;
}

void variation_configure(const struct variation *variation, const struct model *model,
                         struct sim_config *config, int *pool_threads) {
    if (variation->kind == VARY_ARRIVALS)
        config->arrival_rate_hz *= variation->factor;
    int step = (int)variation->step;
    bool both = variation->kind == VARY_CORES_AND_THREADS;
    if (variation->kind == VARY_CORES || both)
        config->cores += step;
    if (variation->kind == VARY_THREADS)
        change_threads(model, variation->index, step, pool_threads);
    for (size_t p = 0; p < model->n_pools && both; p++)
        if (model->pools[p].scales && model->pools[p].threads.n_terms == 0)
            change_threads(model, (int)p, step, pool_threads);
}
