/* Four buffers in a free list: a worker that needs one while all are out waits. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

#define BUFFERS      4
#define BUFFER_WORDS 512

struct buffer {
    struct buffer *next;
    uint64_t words[BUFFER_WORDS];
};

struct buffer_pool {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    struct buffer *free;
    struct buffer storage[BUFFERS];
};

static struct buffer_pool buffers;

static void buffers_init(struct buffer_pool *pool) {
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->returned, NULL);
    for (int i = 0; i < BUFFERS; i++) {
        pool->storage[i].next = pool->free;
        pool->free = &pool->storage[i];
    }
}

static struct buffer *buffer_get(struct buffer_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->free == NULL)
        pthread_cond_wait(&pool->returned, &pool->lock);
    struct buffer *buffer = pool->free;
    pool->free = buffer->next;
    pthread_mutex_unlock(&pool->lock);
    return buffer;
}

static void buffer_put(struct buffer_pool *pool, struct buffer *buffer) {
    pthread_mutex_lock(&pool->lock);
    buffer->next = pool->free;
    pool->free = buffer;
    pthread_cond_signal(&pool->returned);
    pthread_mutex_unlock(&pool->lock);
}

static atomic_int next_block;
static int blocks;

static void *encode(void *argument) {
    uint64_t *sum = argument;
    int block;
    while ((block = atomic_fetch_add(&next_block, 1)) < blocks) {
        uint64_t seed = burn((uint64_t)block, 200);
        struct buffer *buffer = buffer_get(&buffers);
        for (int i = 0; i < BUFFER_WORDS; i++)
            buffer->words[i] = seed + (uint64_t)i;
        *sum += burn(buffer->words[seed % BUFFER_WORDS], 1300);
        buffer_put(&buffers, buffer);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t *threads = calloc((size_t)options.threads, sizeof *threads);
    uint64_t *sums = calloc((size_t)options.threads, sizeof *sums), sum = 0;
    blocks = scaled(options, 330);
    buffers_init(&buffers);
    for (int i = 0; i < options.threads; i++)
        pthread_create(threads + i, NULL, encode, sums + i);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    free(sums);
    free(threads);
    print_result(sum);
    return 0;
}
