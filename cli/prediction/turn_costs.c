#include "cli/prediction/turn_costs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/prediction/prediction.h"
#include "modelgen/modelgen.h"
#include "simulator/simulator.h"

/* Of the costs of a turn that are tried: 10 us hardly show, and after 20 ms nothing is left of what
 * a thread had in a cache of any size. */
#define LEAST_NS 1e4
#define MOST_NS  2e7
/* Of a measured cost. */
#define MOST_TIMES 16
/* Halvings of an interval from a cost to its double: a thousandth of it. */
#define STEPS 10

/* ---- the costs that are tried ---- */

static bool takes_turns(const struct pool *pool) {
    return pool->scales && pool->profiled_threads > 1;
}

static bool are_measured(const struct model *model) {
    bool any = false;
    for (size_t p = 0; p < model->n_pools; p++)
        any |= model->pools[p].n_refill > 0;
    return any;
}

/* Those of one model, to be multiplied. Where none were measured, 1 ns each, however long the
 * thread was away. */
struct base_costs {
    bool measured;
    struct refill_point **points; /* per pool; NULL: the pool has none */
};

static struct base_costs base_of(const struct model *model) {
    struct base_costs base = {are_measured(model),
                              memory_alloc(model->n_pools, sizeof(struct refill_point *))};
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        size_t n = base.measured ? pool->n_refill : takes_turns(pool);
        base.points[p] = n > 0 ? memory_alloc(n, sizeof *base.points[p]) : NULL;
        for (size_t i = 0; i < n; i++)
            base.points[p][i] = base.measured ? pool->refill[i] : (struct refill_point){0, 1};
    }
    return base;
}

static void free_base(struct base_costs *base, size_t n_pools) {
    for (size_t p = 0; p < n_pools; p++)
        free(base->points[p]);
    free(base->points);
}

/* Nobody has looked how fast threads displace each other's data: as fast as they bring in their
 * own. */
static void set_new(struct pool *pool, double cost_ns) {
    if (pool->n_refill == 0)
        pool->refill = memory_alloc(1, sizeof *pool->refill);
    pool->n_refill = 1;
    pool->refill[0] = (struct refill_point){0, cost_ns};
    pool->displaces_per_ns = 1 / refill_pace_ns((struct refill_curve){1, pool->refill});
}

static void unset(struct pool *pool) {
    free(pool->refill);
    pool->refill = NULL;
    pool->n_refill = 0;
    pool->displaces_per_ns = 0;
}

static void set_costs(struct model *model, const struct base_costs *base, double times) {
    for (size_t p = 0; p < model->n_pools; p++) {
        struct pool *pool = &model->pools[p];
        if (!base->points[p])
            continue;
        if (!base->measured)
            set_new(pool, times);
        for (size_t i = 0; base->measured && i < pool->n_refill; i++)
            pool->refill[i].cpu_ns = times * base->points[p][i].cpu_ns;
    }
}

/* As before anything was tried. */
static void reset_costs(struct model *model, const struct base_costs *base) {
    if (base->measured) {
        set_costs(model, base, 1);
        return;
    }
    for (size_t p = 0; p < model->n_pools; p++)
        if (base->points[p])
            unset(&model->pools[p]);
}

/* ---- what they come to ---- */

struct fit {
    struct model *model;
    const int *one_core_threads;
    const int *own_threads;
    struct base_costs base;
    double own_ns; /* of the recorded configuration, with the costs that were tried last */
};

static int cpu_of(const struct model *model, const int *threads, int cores, double *cpu_ns,
                  struct error *error) {
    const struct sim_config config = {.seed = 1, .cores = cores, .pool_threads = threads};
    struct sim_result result;
    if (sim_predict(model, &config, &result, error) < 0)
        return -1;
    *cpu_ns = result.cpu_ns.mean;
    sim_result_free(&result);
    return 0;
}

/* CPU time with one core over that of the recorded configuration. */
static int ratio_now(struct fit *fit, double *ratio, struct error *error) {
    double alone_ns;
    if (cpu_of(fit->model, fit->one_core_threads, 1, &alone_ns, error) < 0 ||
        cpu_of(fit->model, fit->own_threads, fit->model->machine.cores, &fit->own_ns, error) < 0)
        return -1;
    *ratio = alone_ns / fit->own_ns;
    return 0;
}

static int ratio_at(struct fit *fit, double times, double *ratio, struct error *error) {
    set_costs(fit->model, &fit->base, times);
    return ratio_now(fit, ratio, error);
}

/* By halving, from a cost that is too small to one that is not, which is left in the model. */
static int narrow(struct fit *fit, double low, double high, double wanted, struct error *error) {
    double ratio;
    for (int step = 0; step < STEPS; step++) {
        double middle = (low + high) / 2;
        if (ratio_at(fit, middle, &ratio, error) < 0)
            return -1;
        *(ratio < wanted ? &low : &high) = middle;
    }
    return ratio_at(fit, high, &ratio, error);
}

/* 1: found, and in the model; 0: none is as large; -1. */
static int find(struct fit *fit, double wanted, struct error *error) {
    double low = fit->base.measured ? 1 : 0, high = fit->base.measured ? 2 : LEAST_NS;
    double most = fit->base.measured ? MOST_TIMES : MOST_NS;
    for (; high <= most; low = high, high *= 2) {
        double ratio;
        if (ratio_at(fit, high, &ratio, error) < 0)
            return -1;
        if (ratio >= wanted)
            return narrow(fit, low, high, wanted, error) < 0 ? -1 : 1;
    }
    return 0;
}

static int fit_costs(struct fit *fit, struct error *error) {
    double ratio;
    if (ratio_now(fit, &ratio, error) < 0)
        return -1;
    double own_ns = fit->own_ns;
    int found = find(fit, ratio * fit->model->one_core_cpu, error);
    if (found <= 0) {
        reset_costs(fit->model, &fit->base);
        return found;
    }
    modelgen_scale_demands(fit->model, own_ns / fit->own_ns);
    fit->model->one_core_cpu = 0;
    return 1;
}

int turn_costs_fit(struct model *model, const int *one_core_threads, struct error *error) {
    const struct thread_choice recorded = {0};
    int *own_threads = thread_choice_resolve(&recorded, model, error);
    if (!own_threads)
        return -1;
    struct fit fit = {.model = model,
                      .one_core_threads = one_core_threads,
                      .own_threads = own_threads,
                      .base = base_of(model)};
    int status = fit_costs(&fit, error);
    free_base(&fit.base, model->n_pools);
    free(own_threads);
    return status;
}
