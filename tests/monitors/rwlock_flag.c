/* A read-write lock of a reader count and a writer flag, readers first, one condition. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

struct rw {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int readers;
    bool writing;
};

static void rw_read_lock(struct rw *rw) {
    pthread_mutex_lock(&rw->mutex);
    while (rw->writing)
        pthread_cond_wait(&rw->changed, &rw->mutex);
    rw->readers++;
    pthread_mutex_unlock(&rw->mutex);
}

static void rw_read_unlock(struct rw *rw) {
    pthread_mutex_lock(&rw->mutex);
    if (--rw->readers == 0)
        pthread_cond_broadcast(&rw->changed);
    pthread_mutex_unlock(&rw->mutex);
}

static void rw_write_lock(struct rw *rw) {
    pthread_mutex_lock(&rw->mutex);
    while (rw->writing || rw->readers > 0)
        pthread_cond_wait(&rw->changed, &rw->mutex);
    rw->writing = true;
    pthread_mutex_unlock(&rw->mutex);
}

static void rw_write_unlock(struct rw *rw) {
    pthread_mutex_lock(&rw->mutex);
    rw->writing = false;
    pthread_cond_broadcast(&rw->changed);
    pthread_mutex_unlock(&rw->mutex);
}

static struct rw table_lock = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};
static uint64_t table_sum;
static int threads, operations;

static void *client(void *argument) {
    uint64_t sum = 0;
    for (int i = (int)(intptr_t)argument; i < operations; i += threads) {
        sum += burn((uint64_t)i, 250);
        if (i / threads % 8 == 7) {
            rw_write_lock(&table_lock);
            table_sum += burn((uint64_t)i, 600);
            rw_write_unlock(&table_lock);
        } else {
            rw_read_lock(&table_lock);
            sum += burn((uint64_t)i, 600);
            rw_read_unlock(&table_lock);
        }
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    operations = scaled(options, 600);
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, client, (void *)(intptr_t)i);
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) {
        void *part;
        pthread_join(ids[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    free(ids);
    print_result(sum + table_sum);
    return 0;
}
