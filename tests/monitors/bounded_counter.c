/* The textbook: a ring with a counter, one condition per direction, signal under the lock. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define CAPACITY 8

struct ring {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    int items[CAPACITY];
    int head, count;
    bool closed;
};

static struct ring ring = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
};

static void ring_put(struct ring *r, int item) {
    pthread_mutex_lock(&r->mutex);
    while (r->count == CAPACITY)
        pthread_cond_wait(&r->not_full, &r->mutex);
    r->items[(r->head + r->count) % CAPACITY] = item;
    r->count++;
    pthread_cond_signal(&r->not_empty);
    pthread_mutex_unlock(&r->mutex);
}

static bool ring_get(struct ring *r, int *item) {
    pthread_mutex_lock(&r->mutex);
    while (r->count == 0 && !r->closed)
        pthread_cond_wait(&r->not_empty, &r->mutex);
    bool any = r->count > 0;
    if (any) {
        *item = r->items[r->head];
        r->head = (r->head + 1) % CAPACITY;
        r->count--;
        pthread_cond_signal(&r->not_full);
    }
    pthread_mutex_unlock(&r->mutex);
    return any;
}

static void ring_close(struct ring *r) {
    pthread_mutex_lock(&r->mutex);
    r->closed = true;
    pthread_cond_broadcast(&r->not_empty);
    pthread_mutex_unlock(&r->mutex);
}

struct worker {
    pthread_t thread;
    uint64_t sum;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    int item;
    while (ring_get(&ring, &item))
        worker->sum += burn((uint64_t)item, 1000);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct worker *workers = calloc((size_t)options.threads, sizeof *workers);
    uint64_t sum = 0;
    for (int i = 0; i < options.threads; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    int items = scaled(options, 400);
    for (int i = 0; i < items; i++) {
        sum += burn((uint64_t)i, 100);
        ring_put(&ring, i);
    }
    ring_close(&ring);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].sum;
    }
    free(workers);
    print_result(sum);
    return 0;
}
