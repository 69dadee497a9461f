/* Blocks go round between a reader and its workers: each hands one in and takes another in the same
 * critical section. Twice as many blocks as workers; behind the last full one the reader hands in
 * one empty block for each worker, in the same loop. */
#include <pthread.h>

#include "support.h"

struct block {
    int n_records;
    uint64_t records[8];
};

struct ring {
    struct block **blocks;
    int size, head, count;
};

struct exchange {
    pthread_mutex_t mutex;
    pthread_cond_t more_empty, more_full;
    struct ring empty, full;
    int idle; /* workers that wait */
};

static struct exchange *exchange_new(int size) {
    struct exchange *exchange = calloc(1, sizeof *exchange);

    pthread_mutex_init(&exchange->mutex, NULL);
    pthread_cond_init(&exchange->more_empty, NULL);
    pthread_cond_init(&exchange->more_full, NULL);
    exchange->empty = (struct ring){calloc((size_t)size, sizeof(struct block *)), size, 0, 0};
    exchange->full = (struct ring){calloc((size_t)size, sizeof(struct block *)), size, 0, 0};
    return exchange;
}

static void exchange_add(struct exchange *exchange, struct block *block) {
    struct ring *empty = &exchange->empty;

    pthread_mutex_lock(&exchange->mutex);
    empty->blocks[(empty->head + empty->count) % empty->size] = block;
    if (empty->count++ == 0)
        pthread_cond_signal(&exchange->more_empty);
    pthread_mutex_unlock(&exchange->mutex);
}

/* Hands in a full block, if any, for an empty one. */
static struct block *reader_exchange(struct exchange *exchange, struct block *full) {
    struct ring *ring = &exchange->full;
    struct block *block;

    pthread_mutex_lock(&exchange->mutex);
    if (full != NULL) {
        ring->blocks[(ring->head + ring->count) % ring->size] = full;
        ring->count++;
        if (exchange->idle > 0)
            pthread_cond_broadcast(&exchange->more_full);
    }
    ring = &exchange->empty;
    while (ring->count == 0)
        pthread_cond_wait(&exchange->more_empty, &exchange->mutex);
    block = ring->blocks[ring->head];
    ring->head = (ring->head + 1) % ring->size;
    ring->count--;
    pthread_mutex_unlock(&exchange->mutex);
    return block;
}

/* Hands in an empty block, if any, for a full one. */
static struct block *worker_exchange(struct exchange *exchange, struct block *empty) {
    struct ring *ring = &exchange->empty;
    struct block *block;

    pthread_mutex_lock(&exchange->mutex);
    if (empty != NULL) {
        ring->blocks[(ring->head + ring->count) % ring->size] = empty;
        if (ring->count++ == 0)
            pthread_cond_signal(&exchange->more_empty);
    }
    ring = &exchange->full;
    if (ring->count == 0) {
        exchange->idle++;
        while (ring->count == 0)
            pthread_cond_wait(&exchange->more_full, &exchange->mutex);
        exchange->idle--;
    }
    block = ring->blocks[ring->head];
    ring->head = (ring->head + 1) % ring->size;
    ring->count--;
    pthread_mutex_unlock(&exchange->mutex);
    return block;
}

struct worker {
    pthread_t thread;
    struct exchange *exchange;
    uint64_t sum;
};

static void *work(void *arg) {
    struct worker *worker = arg;
    struct block *block = worker_exchange(worker->exchange, NULL);

    while (block->n_records > 0) {
        for (int i = 0; i < block->n_records; i++)
            worker->sum += burn(block->records[i], 700);
        block = worker_exchange(worker->exchange, block);
    }
    exchange_add(worker->exchange, block);
    return NULL;
}

/* Returns whether there was something to read. */
static int read_block(struct block *block, int *left) {
    block->n_records = *left < 4 ? *left : 4;
    for (int i = 0; i < block->n_records; i++)
        block->records[i] = (uint64_t)(*left - i);
    *left -= block->n_records;
    if (block->n_records > 0)
        block->records[0] += burn((uint64_t)*left, 100) % 2;
    return block->n_records > 0;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct exchange *exchange = exchange_new(2 * options.threads);
    struct worker *workers = calloc((size_t)options.threads, sizeof *workers);
    int left = scaled(options, 800), ends = 0;
    uint64_t sum = 0;

    for (int i = 0; i < 2 * options.threads; i++)
        exchange_add(exchange, calloc(1, sizeof(struct block)));
    for (int i = 0; i < options.threads; i++) {
        workers[i].exchange = exchange;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    struct block *block = reader_exchange(exchange, NULL);
    while (ends < options.threads) {
        ends += !read_block(block, &left);
        block = reader_exchange(exchange, block);
    }
    for (int i = 0; i < options.threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].sum;
    }
    print_result(sum);
    return 0;
}
