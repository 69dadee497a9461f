/* What one replication measured, as a row of numbers; and estimates over the rows. */
#ifndef PERSIK_SIMULATOR_REPLICATION_H
#define PERSIK_SIMULATOR_REPLICATION_H

#include "simulator/state.h"

/* The columns of a row: these, then N_OBJECT_METRICS per object, then N_POOL_METRICS per pool.
 * NaN where the run had nothing to measure. */
enum metric {
    METRIC_RUN_NS,
    METRIC_TASKS,
    METRIC_THROUGHPUT_HZ,
    METRIC_RESPONSE_NS,
    METRIC_P50_NS,
    METRIC_P95_NS,
    METRIC_P99_NS,
    METRIC_CPU_UTILISATION,
    METRIC_CPU_NS,
    METRIC_DISK_UTILISATION,
    N_METRICS
};

enum object_metric {
    OBJECT_OPERATIONS,
    OBJECT_WAITS,
    OBJECT_WAIT_NS,
    OBJECT_UTILISATION,
    OBJECT_LENGTH,
    OBJECT_DROPPED,
    OBJECT_LEFT,
    OBJECT_GROWTH_HZ, /* queue: by how many items it has grown per second */
    OBJECT_LEAST,     /* queue: the fewest items in it */
    OBJECT_UNSEEN,    /* disk: requests of which the recorded run had none */
    N_OBJECT_METRICS
};

enum pool_metric { POOL_CPU_NS, POOL_READY_NS, POOL_BLOCKED_NS, N_POOL_METRICS };

struct replication {
    double events, stalls, guessed, guessed_ns;
    char stalled_at[400];
    char failure[512]; /* empty: it ran to its end */
    double *row;       /* owned */
};

size_t replication_columns(const struct plan *plan);
size_t replication_object_column(int object);
size_t replication_pool_column(const struct plan *plan, int pool);

/* Reads the engine after engine_run(). The row is allocated; free() ends it. */
void replication_read(struct replication *replication, const struct engine *engine);

/* Mean over the first `n` replications of a column, and the half width of its 95 % confidence
 * interval (Student t). Rows with NaN are left out; nothing but NaN gives 0. From a single row no
 * interval can be had; its half width is then 0. */
struct estimate replication_estimate(const struct replication *replications, int n, size_t column);

#endif
