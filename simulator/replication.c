#include "simulator/replication.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#define CONFIDENCE 0.95

size_t replication_object_column(int object) {
    return N_METRICS + (size_t)object * N_OBJECT_METRICS;
}

size_t replication_pool_column(const struct plan *plan, int pool) {
    return replication_object_column(plan->n_objects) + (size_t)pool * N_POOL_METRICS;
}

size_t replication_columns(const struct plan *plan) {
    return replication_pool_column(plan, plan->n_pools);
}

/* Returns the disk's utilisation, 0 for other objects. */
static double read_object(double *columns, const struct shared *object, double window_ns) {
    columns[OBJECT_OPERATIONS] = object->operations;
    columns[OBJECT_WAITS] = object->waits;
    columns[OBJECT_WAIT_NS] = object->waits > 0 ? object->wait_ns / object->waits : NAN;
    columns[OBJECT_UTILISATION] = object->busy_ns / window_ns;
    columns[OBJECT_LENGTH] = object->length_ns / window_ns;
    columns[OBJECT_DROPPED] = object->dropped;
    columns[OBJECT_LEFT] = (double)object->n_items;
    columns[OBJECT_GROWTH_HZ] =
        ((double)object->n_items - (double)object->items_before) * 1e9 / window_ns;
    columns[OBJECT_LEAST] = (double)object->least_items;
    columns[OBJECT_UNSEEN] = object->unseen;
    return object->kind == OBJECT_DISK ? columns[OBJECT_UTILISATION] : 0;
}

/* Returns the CPU time of the whole pool. */
static double read_pool(double *columns, const struct engine *engine, int pool) {
    const struct plan_pool *planned = &engine->plan->pools[pool];
    double sums[N_THREAD_STATES] = {0};
    for (int i = 0; i < planned->threads; i++) {
        const struct thread *thread = &engine->threads[planned->first_thread + i];
        for (int state = 0; state < N_THREAD_STATES; state++)
            sums[state] += thread->time_ns[state];
    }
    sums[THREAD_RUNNING] += engine->awake[pool].spun_ns;
    columns[POOL_CPU_NS] = sums[THREAD_RUNNING] / planned->threads;
    columns[POOL_READY_NS] = sums[THREAD_READY] / planned->threads;
    columns[POOL_BLOCKED_NS] = sums[THREAD_BLOCKED] / planned->threads;
    return sums[THREAD_RUNNING];
}

static void read_tasks(double *row, const struct engine *engine, double window_ns) {
    const struct histogram *response = &engine->response;
    row[METRIC_TASKS] = engine->tasks;
    row[METRIC_THROUGHPUT_HZ] = engine->tasks * 1e9 / window_ns;
    row[METRIC_RESPONSE_NS] = response->n > 0 ? response->sum_ns / response->n : NAN;
    row[METRIC_P50_NS] = histogram_quantile(response, 0.50);
    row[METRIC_P95_NS] = histogram_quantile(response, 0.95);
    row[METRIC_P99_NS] = histogram_quantile(response, 0.99);
}

void replication_read(struct replication *replication, const struct engine *engine) {
    const struct plan *plan = engine->plan;
    double window = engine->now_ns - engine->counted_since_ns;
    double *row = memory_alloc(replication_columns(plan), sizeof *row);
    replication->events = engine->events;
    replication->stalls = engine->stalls;
    replication->guessed = engine->guessed;
    /* What came before the first was not late by it. */
    double since_ns = engine->guessed > 0 ? engine->now_ns - engine->guessed_since_ns : 0;
    replication->guessed_ns = fmin(engine->guessed_wait_ns, since_ns);
    memcpy(replication->stalled_at, engine->stalled_at, sizeof replication->stalled_at);
    memcpy(replication->failure, engine->failure, sizeof replication->failure);
    replication->row = row;

    row[METRIC_RUN_NS] = engine->now_ns;
    read_tasks(row, engine, window);
    for (int i = 0; i < plan->n_objects; i++) {
        double disk = read_object(row + replication_object_column(i), &engine->objects[i], window);
        row[METRIC_DISK_UTILISATION] = fmax(row[METRIC_DISK_UTILISATION], disk);
    }
    for (int i = 0; i < plan->n_pools; i++)
        row[METRIC_CPU_NS] += read_pool(row + replication_pool_column(plan, i), engine, i);
    row[METRIC_CPU_UTILISATION] = row[METRIC_CPU_NS] / (window * plan->cores);
    for (size_t i = 0; i < replication_columns(plan); i++) {
        if (!isfinite(row[i]))
            row[i] = NAN; /* a run of no length has no rates */
    }
}

struct estimate replication_estimate(const struct replication *replications, int n, size_t column) {
    double used = 0;
    double mean = 0;
    double squares = 0; /* of the deviations; Welford 1962 */
    for (int i = 0; i < n; i++) {
        double value = replications[i].row[column];
        if (isnan(value))
            continue;
        used++;
        double deviation = value - mean;
        mean += deviation / used;
        squares += deviation * (value - mean);
    }
    if (used < 2) /* of one value nobody knows how sure it is */
        return (struct estimate){.mean = mean, .half_width = used > 0 ? INFINITY : 0};
    double error = sqrt(squares / (used - 1) / used);
    double t = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2, used - 1);
    return (struct estimate){.mean = mean, .half_width = t * error};
}
