/* A latch per backend, set by others, reset by its owner, who then looks whether there is something
 * to do: a set latch may stand for any number of requests. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support.h"

typedef struct Latch {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool is_set;
} Latch;

typedef struct Backend {
    pthread_t thread;
    Latch latch;
    atomic_int requested; /* requests 0..requested-1 of this backend may be served */
    int number, served, share;
    uint64_t result;
} Backend;

static int MaxBackends;

static void InitLatch(Latch *latch) {
    pthread_mutex_init(&latch->mutex, NULL);
    pthread_cond_init(&latch->cond, NULL);
    latch->is_set = false;
}

static void SetLatch(Latch *latch) {
    pthread_mutex_lock(&latch->mutex);
    if (!latch->is_set) {
        latch->is_set = true;
        pthread_cond_signal(&latch->cond);
    }
    pthread_mutex_unlock(&latch->mutex);
}

static void WaitLatch(Latch *latch) {
    pthread_mutex_lock(&latch->mutex);
    while (!latch->is_set)
        pthread_cond_wait(&latch->cond, &latch->mutex);
    latch->is_set = false;
    pthread_mutex_unlock(&latch->mutex);
}

static void *BackendMain(void *arg) {
    Backend *self = arg;

    while (self->served < self->share) {
        WaitLatch(&self->latch);
        while (self->served < atomic_load(&self->requested)) {
            self->result += burn((uint64_t)(self->served * MaxBackends + self->number), 1000);
            self->served++;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int requests = scaled(options, 420);
    uint64_t sum = 0;

    MaxBackends = options.threads;
    Backend *backends = calloc((size_t)MaxBackends, sizeof(Backend));
    for (int i = 0; i < MaxBackends; i++) {
        backends[i].number = i;
        backends[i].share = requests / MaxBackends + (i < requests % MaxBackends);
        InitLatch(&backends[i].latch);
        pthread_create(&backends[i].thread, NULL, BackendMain, &backends[i]);
    }
    for (int i = 0; i < requests; i++) {
        Backend *backend = &backends[i % MaxBackends];
        sum += burn((uint64_t)i, 220);
        atomic_fetch_add(&backend->requested, 1);
        SetLatch(&backend->latch);
    }
    for (int i = 0; i < MaxBackends; i++) {
        pthread_join(backends[i].thread, NULL);
        sum += backends[i].result;
    }
    free(backends);
    print_result(sum);
    return 0;
}
