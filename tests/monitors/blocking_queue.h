/* A bounded queue as inline functions of a header. */
#ifndef PERSIK_TESTS_MONITORS_BLOCKING_QUEUE_H
#define PERSIK_TESTS_MONITORS_BLOCKING_QUEUE_H

#include <pthread.h>
#include <stdlib.h>

struct blocking_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    void **items;
    unsigned first, n, max;
};

static inline void bq_init(struct blocking_queue *bq, unsigned max) {
    pthread_mutex_init(&bq->mutex, NULL);
    pthread_cond_init(&bq->not_empty, NULL);
    pthread_cond_init(&bq->not_full, NULL);
    bq->items = (void **)calloc(max, sizeof(void *));
    bq->first = 0;
    bq->n = 0;
    bq->max = max;
}

static inline void bq_push(struct blocking_queue *bq, void *item) {
    pthread_mutex_lock(&bq->mutex);
    while (bq->n >= bq->max)
        pthread_cond_wait(&bq->not_full, &bq->mutex);
    bq->items[(bq->first + bq->n++) % bq->max] = item;
    pthread_mutex_unlock(&bq->mutex);
    pthread_cond_signal(&bq->not_empty);
}

static inline void *bq_pop(struct blocking_queue *bq) {
    pthread_mutex_lock(&bq->mutex);
    while (!bq->n)
        pthread_cond_wait(&bq->not_empty, &bq->mutex);
    void *item = bq->items[bq->first++];
    if (bq->first == bq->max)
        bq->first = 0;
    bq->n--;
    pthread_mutex_unlock(&bq->mutex);
    pthread_cond_signal(&bq->not_full);
    return item;
}

#endif
