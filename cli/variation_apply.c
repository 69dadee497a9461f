/* Variations carried out on a model. */
#include <stdlib.h>

#include "cli/variation.h"
#include "cli/variation_graph.h"
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
    }
    return 0;
}
