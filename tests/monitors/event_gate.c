/* A one-shot start gate: workers wait until the tables are ready, then never again. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool open;
};

static struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static void gate_wait(struct gate *g) {
    pthread_mutex_lock(&g->mutex);
    while (!g->open)
        pthread_cond_wait(&g->opened, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void gate_open(struct gate *g) {
    pthread_mutex_lock(&g->mutex);
    g->open = true;
    pthread_cond_broadcast(&g->opened);
    pthread_mutex_unlock(&g->mutex);
}

static uint64_t table[256];

struct part {
    pthread_t thread;
    int begin, end;
    uint64_t own, sum;
};

static void *lookups(void *argument) {
    struct part *part = argument;
    for (int i = part->begin; i < part->end; i++)
        part->own += burn((uint64_t)i, 250);
    gate_wait(&gate);
    for (int i = part->begin; i < part->end; i++)
        part->sum += burn(table[i % 256], 1250);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, all = scaled(options, 256);
    struct part *parts = calloc((size_t)n, sizeof *parts);
    for (int i = 0; i < n; i++) {
        parts[i].begin = all * i / n;
        parts[i].end = all * (i + 1) / n;
        pthread_create(&parts[i].thread, NULL, lookups, &parts[i]);
    }
    for (int i = 0; i < 256; i++)
        table[i] = burn((uint64_t)i, options.work < 100 ? 10 : 400);
    gate_open(&gate);
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(parts[i].thread, NULL);
        sum += parts[i].own;
        sum += parts[i].sum;
    }
    free(parts);
    print_result(sum);
    return 0;
}
