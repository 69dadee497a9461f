/* Configurations in, figures out: simulator/simulator.h in the words of persiksim.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "library/handles.h"
#include "simulator/simulator.h"

#define SETTINGS (PERSIK_ACCEPT_STANDSTILL + 1)

struct persik_config {
    double settings[SETTINGS];
    size_t n_threads;
    int *threads;       /* by pool; owned */
    struct error wrong; /* the first call that could not be done; without text: none */
};

struct persik_result {
    struct sim_result result;
};

const char *persik_version(void) {
    return PERSIK_VERSION;
}

/* ---- configurations ---- */

persik_config *persik_config_new(void) {
    return memory_alloc(1, sizeof(persik_config));
}

void persik_config_free(persik_config *config) {
    if (!config)
        return;
    free(config->threads);
    free(config);
}

int persik_config_set(persik_config *config, enum persik_setting what, double value) {
    if ((size_t)what >= SETTINGS)
        return error_set(&config->wrong, "persik_config_set: no such setting: %d", (int)what);
    if (!isfinite(value) || value < 0)
        return error_set(&config->wrong, "persik_config_set: %g is no value for setting %d", value,
                         (int)what);
    config->settings[what] = value;
    return 0;
}

int persik_config_threads(persik_config *config, int pool, int threads) {
    if (pool < 0 || threads < 0)
        return error_set(&config->wrong, "persik_config_threads: pool %d cannot have %d threads",
                         pool, threads);
    if ((size_t)pool >= config->n_threads) {
        size_t grown = (size_t)pool + 1;
        config->threads = memory_resize(config->threads, grown, sizeof *config->threads);
        memset(config->threads + config->n_threads, 0,
               (grown - config->n_threads) * sizeof *config->threads);
        config->n_threads = grown;
    }
    config->threads[pool] = threads;
    return 0;
}

/* Of `n_pools` pools; the caller frees it. */
static int *threads_of(const persik_config *config, size_t n_pools) {
    int *threads = memory_alloc(n_pools, sizeof *threads);
    for (size_t p = 0; p < n_pools && p < config->n_threads; p++)
        threads[p] = config->threads[p];
    return threads;
}

static struct sim_config simulator_config(const persik_config *config, const int *threads) {
    const double *setting = config->settings;
    return (struct sim_config){
        .pool_threads = threads,
        .cores = (int)setting[PERSIK_CORES],
        .seed = (uint64_t)setting[PERSIK_SEED],
        .precision = setting[PERSIK_PRECISION],
        .min_replications = (int)setting[PERSIK_MIN_REPLICATIONS],
        .max_replications = (int)setting[PERSIK_MAX_REPLICATIONS],
        .max_events = setting[PERSIK_MAX_EVENTS],
        .horizon_ns = setting[PERSIK_HORIZON_NS],
        .warmup_ns = setting[PERSIK_WARMUP_NS],
        .workers = (int)setting[PERSIK_WORKERS],
        .arrival_rate_hz = setting[PERSIK_ARRIVAL_RATE_HZ],
        .requests = setting[PERSIK_REQUESTS],
        .clients = (int)setting[PERSIK_CLIENTS],
        .think_ns = setting[PERSIK_THINK_NS],
    };
}

/* ---- what is no prediction ---- */

static int tell_refusal(enum sim_refusal refusal, const struct model *model,
                        const struct pool *pool, struct error *error) {
    switch (refusal) {
    case SIM_REFUSAL_NONE:
    case SIM_REFUSAL_STANDSTILL: /* is the other setting's */
        break;
    case SIM_REFUSAL_UNPREDICTED:
        return error_set(error, "%s", model->unpredicted);
    case SIM_REFUSAL_OTHER_CORES:
        return error_set(error, "%s", model->asks_cores);
    case SIM_REFUSAL_GIVEN_TIME:
        return error_set(error,
                         "%s: its threads go on for a given time, what they do in it is not "
                         "predicted: record a run that ends with its work",
                         pool->name);
    case SIM_REFUSAL_UNKNOWN_RULE:
        return error_set(error,
                         "%s: how its work follows its threads is unknown: set "
                         "PERSIK_ACCEPT_UNKNOWN_RULES to take it for a fixed total",
                         pool->name);
    case SIM_REFUSAL_CAPPED:
        return error_set(error,
                         "%s: whether it can have more threads than there are cores is not known "
                         "(%s)",
                         pool->name, pool->capped);
    case SIM_REFUSAL_REMADE:
        return error_set(error,
                         "%s: %s: what other numbers of them at a time cost is not known: record "
                         "with as many",
                         pool->name, pool->remade);
    case SIM_REFUSAL_ONE_THREAD:
        return error_set(error,
                         "%s: with one thread the program goes another way, which was not "
                         "recorded (%s): record it",
                         pool->name, pool->one_thread);
    }
    return 0;
}

static enum sim_refusal refusal_of(const struct model *model, const struct sim_result *result,
                                   int cores, const struct pool **pool) {
    int *own = memory_alloc(model->n_pools, sizeof *own);
    int *threads = memory_alloc(model->n_pools, sizeof *threads);
    for (size_t p = 0; p < model->n_pools; p++) {
        own[p] = model->pools[p].profiled_threads;
        threads[p] = result->pools[p].threads;
    }
    enum sim_refusal refusal =
        sim_refusal_of(model, own, threads, cores ? cores : model->machine.cores, pool);
    free(own);
    free(threads);
    return refusal;
}

/* Everything waits for nothing: now, or when the model was held against the recording. */
static int tell_standstill(const struct model *model, const struct sim_result *result,
                           struct error *error) {
    bool stood = result->stalls > 0 || result->guessed > 0;
    return error_set(error, "%s%s%s: complete the model, or set PERSIK_ACCEPT_STANDSTILL",
                     stood ? "everything waits for nothing" : model->standstill,
                     stood && result->stalled_at[0] ? " at " : "", stood ? result->stalled_at : "");
}

static int check_result(const struct model *model, const persik_config *config,
                        const struct sim_result *result, struct error *error) {
    const struct pool *pool;
    enum sim_refusal refusal =
        refusal_of(model, result, (int)config->settings[PERSIK_CORES], &pool);
    if ((result->stalls > 0 || result->guessed > 0 || refusal == SIM_REFUSAL_STANDSTILL) &&
        config->settings[PERSIK_ACCEPT_STANDSTILL] == 0)
        return tell_standstill(model, result, error);
    if (config->settings[PERSIK_ACCEPT_UNKNOWN_RULES] != 0)
        return 0;
    return tell_refusal(refusal, model, pool, error);
}

/* ---- simulation ---- */

static int simulate(const struct model *model, const persik_config *config,
                    struct sim_result *result, struct error *error) {
    int *threads = threads_of(config, model->n_pools);
    struct sim_config inside = simulator_config(config, threads);
    int status = sim_predict(model, &inside, result, error);
    free(threads);
    if (status == 0 && check_result(model, config, result, error) != 0) {
        sim_result_free(result);
        return -1;
    }
    return status;
}

static int check_config(const struct model *model, const persik_config *config,
                        struct error *error) {
    if (config->wrong.text[0])
        return error_set(error, "%s", config->wrong.text);
    for (size_t p = model->n_pools; p < config->n_threads; p++)
        if (config->threads[p] != 0)
            return error_set(error, "persik_config_threads: the model has no pool %zu", p);
    return 0;
}

persik_result *persik_simulate(persik_model *model, const persik_config *config,
                               persik_error *error) {
    static const persik_config nothing_set;
    struct error wrong = {0};
    if (!config)
        config = &nothing_set;
    if (persik_check(model, error) != 0)
        return NULL;
    persik_result *result = memory_alloc(1, sizeof *result);
    if (check_config(model->model, config, &wrong) == 0 &&
        simulate(model->model, config, &result->result, &wrong) == 0)
        return result;
    free(result);
    handles_tell(&wrong, error);
    return NULL;
}

void persik_result_free(persik_result *result) {
    if (!result)
        return;
    sim_result_free(&result->result);
    free(result);
}

/* ---- figures ---- */

static const persik_estimate no_figure = {NAN, NAN};

static persik_estimate give(struct estimate estimate) {
    return (persik_estimate){estimate.mean, estimate.half_width};
}

persik_estimate persik_figure(const persik_result *result, enum persik_figure what) {
    const struct sim_result *all = &result->result;
    switch (what) {
    case PERSIK_RUN_NS:
        return give(all->run_ns);
    case PERSIK_TASKS:
        return give(all->tasks);
    case PERSIK_THROUGHPUT_HZ:
        return give(all->throughput_hz);
    case PERSIK_RESPONSE_NS:
        return give(all->response_ns);
    case PERSIK_RESPONSE_P50_NS:
        return give(all->response_p50_ns);
    case PERSIK_RESPONSE_P95_NS:
        return give(all->response_p95_ns);
    case PERSIK_RESPONSE_P99_NS:
        return give(all->response_p99_ns);
    case PERSIK_CPU_UTILISATION:
        return give(all->cpu_utilisation);
    case PERSIK_CPU_NS:
        return give(all->cpu_ns);
    case PERSIK_DISK_UTILISATION:
        return give(all->disk_utilisation);
    }
    return no_figure;
}

persik_estimate persik_object_figure(const persik_result *result, int object,
                                     enum persik_object_figure what) {
    if (object < 0 || (size_t)object >= result->result.n_objects)
        return no_figure;
    const struct sim_object_result *found = &result->result.objects[object];
    switch (what) {
    case PERSIK_OPERATIONS:
        return give(found->operations);
    case PERSIK_WAITS:
        return give(found->waits);
    case PERSIK_WAIT_NS:
        return give(found->wait_ns);
    case PERSIK_UTILISATION:
        return give(found->utilisation);
    case PERSIK_LENGTH:
        return give(found->length);
    case PERSIK_DROPPED:
        return give(found->dropped);
    case PERSIK_LEFT:
        return give(found->left);
    }
    return no_figure;
}

persik_estimate persik_pool_figure(const persik_result *result, int pool,
                                   enum persik_pool_figure what) {
    if (pool < 0 || (size_t)pool >= result->result.n_pools)
        return no_figure;
    const struct sim_pool_result *found = &result->result.pools[pool];
    switch (what) {
    case PERSIK_POOL_CPU_NS:
        return give(found->cpu_ns);
    case PERSIK_POOL_READY_NS:
        return give(found->ready_ns);
    case PERSIK_POOL_BLOCKED_NS:
        return give(found->blocked_ns);
    }
    return no_figure;
}

enum persik_regime persik_regime(const persik_result *result) {
    switch (result->result.regime) {
    case REGIME_ENDING:
        return PERSIK_ENDING;
    case REGIME_STEADY:
        return PERSIK_STEADY;
    case REGIME_GROWING:
        return PERSIK_GROWING;
    case REGIME_UNSETTLED:
        break;
    }
    return PERSIK_UNSETTLED;
}

int persik_growing_queue(const persik_result *result) {
    return result->result.growing;
}

int persik_replications(const persik_result *result) {
    return result->result.replications;
}

double persik_standstills(const persik_result *result) {
    return result->result.stalls + result->result.guessed;
}
