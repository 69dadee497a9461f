/* Replications until the answer is precise enough, on several workers.
 *
 * The first so many count that are precise enough, in the order of their numbers, and each one's
 * random numbers depend on its number alone. What the workers have simulated beyond that is thrown
 * away; so their number changes the time it takes and nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "simulator/crew.h"
#include "simulator/engine.h"
#include "simulator/plan_make.h"
#include "simulator/replication.h"
#include "simulator/simulator.h"
#include "simulator/steady.h"

#define DEFAULT_PRECISION 0.01
#define DEFAULT_MIN       3
#define DEFAULT_MAX       200
#define DEFAULT_EVENTS    3e7
#define MAX_WORKERS       256

struct study {
    const struct plan *plan;
    uint64_t seed;
    double precision;
    int min_replications, max_replications;
    double max_events;
    int n_workers;
    struct engine **engines; /* one per worker */
    struct replication *replications;
    int n;      /* that count */
    int n_made; /* at least n */
};

static void run_one(void *context, int i, int worker) {
    struct study *study = context;
    struct engine *engine = study->engines[worker];
    engine_run(engine, study->seed, (uint64_t)i);
    replication_read(&study->replications[i], engine);
}

static void run_batch(struct study *study, int end) {
    crew_run(study->n_workers, study->n_made, end, run_one, study);
    study->n_made = end;
}

/* What has to be precise: the time a program takes that ends by itself; else, since the length of
 * the run is given, how long its tasks take, or how many there are. */
static size_t focus_column(const struct study *study) {
    const struct plan *plan = study->plan;
    if (!isfinite(plan->horizon_ns) && !plan->is_open)
        return METRIC_RUN_NS;
    if (replication_estimate(study->replications, study->n, METRIC_RESPONSE_NS).mean > 0)
        return METRIC_RESPONSE_NS;
    if (replication_estimate(study->replications, study->n, METRIC_TASKS).mean > 0)
        return METRIC_THROUGHPUT_HZ;
    return METRIC_RUN_NS;
}

static bool is_precise(const struct study *study) {
    struct estimate estimate =
        replication_estimate(study->replications, study->n, focus_column(study));
    return estimate.half_width <= study->precision * fabs(estimate.mean);
}

static double count_events(const struct study *study) {
    double events = 0;
    for (int i = 0; i < study->n; i++)
        events += study->replications[i].events;
    return events;
}

static bool is_enough(const struct study *study) {
    return study->n >= study->min_replications &&
           (study->n == study->max_replications || count_events(study) >= study->max_events ||
            is_precise(study));
}

static int run_study(struct study *study, struct error *error) {
    while (!is_enough(study)) {
        if (study->n == study->n_made) {
            int end = study->n + study->n_workers;
            if (end < study->min_replications)
                end = study->min_replications;
            run_batch(study, end < study->max_replications ? end : study->max_replications);
        }
        const char *failure = study->replications[study->n++].failure;
        if (!failure[0])
            continue;
        error_set(error, "%s (seed %llu)", failure, (unsigned long long)study->seed);
        return SIM_STUCK;
    }
    return 0;
}

/* ---- the result ---- */

/* What is read into the result. */
struct rows {
    const struct plan *plan;
    const struct replication *replications;
    int n;
};

static struct estimate estimate_of(const struct rows *rows, size_t column) {
    return replication_estimate(rows->replications, rows->n, column);
}

static void fill_objects(struct sim_result *result, const struct rows *rows) {
    for (size_t i = 0; i < result->n_objects; i++) {
        size_t column = replication_object_column((int)i);
        result->objects[i] = (struct sim_object_result){
            .operations = estimate_of(rows, column + OBJECT_OPERATIONS),
            .waits = estimate_of(rows, column + OBJECT_WAITS),
            .wait_ns = estimate_of(rows, column + OBJECT_WAIT_NS),
            .utilisation = estimate_of(rows, column + OBJECT_UTILISATION),
            .length = estimate_of(rows, column + OBJECT_LENGTH),
            .dropped = estimate_of(rows, column + OBJECT_DROPPED),
            .left = estimate_of(rows, column + OBJECT_LEFT),
            .growth_hz = estimate_of(rows, column + OBJECT_GROWTH_HZ),
            .unseen = estimate_of(rows, column + OBJECT_UNSEEN),
        };
    }
}

static void fill_pools(struct sim_result *result, const struct rows *rows) {
    for (size_t i = 0; i < result->n_pools; i++) {
        size_t column = replication_pool_column(rows->plan, (int)i);
        result->pools[i] = (struct sim_pool_result){
            .threads = rows->plan->pools[i].threads,
            .cpu_ns = estimate_of(rows, column + POOL_CPU_NS),
            .ready_ns = estimate_of(rows, column + POOL_READY_NS),
            .blocked_ns = estimate_of(rows, column + POOL_BLOCKED_NS),
        };
    }
}

static void fill_result(struct sim_result *result, const struct rows *rows) {
    *result = (struct sim_result){
        .growing = MODEL_NONE,
        .offered_hz = rows->plan->offered_hz,
        .clients = rows->plan->n_clients,
        .replications = rows->n,
        .run_ns = estimate_of(rows, METRIC_RUN_NS),
        .tasks = estimate_of(rows, METRIC_TASKS),
        .throughput_hz = estimate_of(rows, METRIC_THROUGHPUT_HZ),
        .response_ns = estimate_of(rows, METRIC_RESPONSE_NS),
        .response_p50_ns = estimate_of(rows, METRIC_P50_NS),
        .response_p95_ns = estimate_of(rows, METRIC_P95_NS),
        .response_p99_ns = estimate_of(rows, METRIC_P99_NS),
        .cpu_utilisation = estimate_of(rows, METRIC_CPU_UTILISATION),
        .cpu_ns = estimate_of(rows, METRIC_CPU_NS),
        .disk_utilisation = estimate_of(rows, METRIC_DISK_UTILISATION),
        .n_objects = (size_t)rows->plan->n_objects,
        .n_pools = (size_t)rows->plan->n_pools,
    };
    for (int i = rows->n - 1; i >= 0; i--) {
        const struct replication *replication = &rows->replications[i];
        result->events += replication->events;
        result->stalls += replication->stalls;
        result->guessed += replication->guessed;
        result->guessed_ns += replication->guessed_ns / rows->n;
        if (replication->stalled_at[0])
            memcpy(result->stalled_at, replication->stalled_at, sizeof result->stalled_at);
    }
    result->objects = memory_alloc(result->n_objects, sizeof *result->objects);
    result->pools = memory_alloc(result->n_pools, sizeof *result->pools);
    fill_objects(result, rows);
    fill_pools(result, rows);
}

/* ---- runs that end ---- */

static int or_default(int value, int fallback) {
    return value > 0 ? value : fallback;
}

static struct study open_study(const struct plan *plan, const struct sim_config *config) {
    int least = or_default(config->min_replications, DEFAULT_MIN);
    struct study study = {
        .plan = plan,
        .seed = config->seed,
        .precision = config->precision > 0 ? config->precision : DEFAULT_PRECISION,
        .min_replications = least < 2 ? 2 : least, /* one run has no interval */
        .max_replications = or_default(config->max_replications, DEFAULT_MAX),
        .max_events = config->max_events > 0 ? config->max_events : DEFAULT_EVENTS,
        .n_workers = or_default(config->workers, 1),
    };
    if (study.max_replications < study.min_replications)
        study.max_replications = study.min_replications;
    if (study.n_workers > MAX_WORKERS)
        study.n_workers = MAX_WORKERS;
    study.replications = memory_alloc((size_t)study.max_replications, sizeof *study.replications);
    study.engines = memory_alloc((size_t)study.n_workers, sizeof(struct engine *));
    for (int i = 0; i < study.n_workers; i++)
        study.engines[i] = engine_make(plan);
    return study;
}

static void close_study(struct study *study) {
    for (int i = 0; i < study->n_workers; i++)
        engine_free(study->engines[i]);
    for (int i = 0; i < study->n_made; i++)
        free(study->replications[i].row);
    free(study->engines);
    free(study->replications);
}

static int predict_ending(const struct plan *plan, const struct sim_config *config,
                          struct sim_result *result, struct error *error) {
    struct study study = open_study(plan, config);
    int status = run_study(&study, error);
    if (status == 0)
        fill_result(result, &(struct rows){plan, study.replications, study.n});
    close_study(&study);
    return status;
}

/* ---- those that do not ---- */

static void fill_steady(struct sim_result *result, const struct plan *plan,
                        const struct steady *steady) {
    const struct estimate none = {NAN, NAN};
    bool is_steady = steady->regime == REGIME_STEADY;
    fill_result(result, &(struct rows){plan, steady->replications, steady->n});
    result->regime = steady->regime;
    result->growing = steady->growing;
    result->response_ns = is_steady ? steady->response_ns : none;
    result->response_p50_ns = is_steady ? steady->response_p50_ns : none;
    result->response_p95_ns = is_steady ? steady->response_p95_ns : none;
    result->response_p99_ns = is_steady ? steady->response_p99_ns : none;
}

static int predict_steady(const struct plan *plan, const struct sim_config *config,
                          struct sim_result *result, struct error *error) {
    struct steady steady;
    int status = steady_find(plan, config, &steady, error);
    if (status == 0)
        fill_steady(result, plan, &steady);
    steady_free(&steady);
    return status;
}

int sim_predict(const struct model *model, const struct sim_config *config,
                struct sim_result *result, struct error *error) {
    memset(result, 0, sizeof *result);
    struct plan *plan = plan_make(model, config, error);
    if (!plan)
        return -1;
    int status = plan->is_steady ? predict_steady(plan, config, result, error)
                                 : predict_ending(plan, config, result, error);
    plan_free(plan);
    return status;
}

void sim_result_free(struct sim_result *result) {
    free(result->objects);
    free(result->pools);
    memset(result, 0, sizeof *result);
}
