/* An output queue: buffers are taken from the ring in order by the reader, filled by the workers in
 * any order, and read in order, the reader waiting until the oldest one is finished. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support.h"

typedef struct {
    bool finished;
    uint64_t size;
} outbuf;

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    outbuf *bufs;
    uint32_t bufs_used, buf_next, bufs_allocated;
} outqueue;

static outqueue outq;
static sem_t ready; /* blocks handed to the workers */
static uint32_t *todo;
static atomic_uint todo_read;
static bool ending;

static bool outq_has_buf(const outqueue *q) {
    return q->bufs_used < q->bufs_allocated;
}

static uint32_t outq_get_buf(outqueue *q) {
    uint32_t number = q->buf_next;
    q->bufs[number].finished = false;
    if (++q->buf_next == q->bufs_allocated)
        q->buf_next = 0;
    ++q->bufs_used;
    return number;
}

static void outq_finish(outqueue *q, uint32_t number, uint64_t size) {
    pthread_mutex_lock(&q->mutex);
    q->bufs[number].size = size;
    q->bufs[number].finished = true;
    pthread_cond_signal(&q->cond);
    pthread_mutex_unlock(&q->mutex);
}

static uint64_t outq_read(outqueue *q) {
    uint32_t oldest = (q->buf_next + q->bufs_allocated - q->bufs_used) % q->bufs_allocated;
    pthread_mutex_lock(&q->mutex);
    while (!q->bufs[oldest].finished)
        pthread_cond_wait(&q->cond, &q->mutex);
    uint64_t size = q->bufs[oldest].size;
    pthread_mutex_unlock(&q->mutex);
    --q->bufs_used;
    return size;
}

static void *worker_start(void *arg) {
    for (;;) {
        sem_wait(&ready);
        if (ending)
            return arg;
        uint32_t block = atomic_fetch_add(&todo_read, 1);
        outq_finish(&outq, todo[block], burn(block, 700 + block % 3 * 400));
    }
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    uint32_t blocks = (uint32_t)scaled(options, 380);
    pthread_t workers[options.threads];
    uint64_t index = 0;

    outq.bufs_allocated = 2 * (uint32_t)options.threads;
    outq.bufs = calloc(outq.bufs_allocated, sizeof(outbuf));
    todo = calloc(blocks, sizeof(*todo));
    pthread_mutex_init(&outq.mutex, NULL);
    pthread_cond_init(&outq.cond, NULL);
    sem_init(&ready, 0, 0);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&workers[i], NULL, worker_start, NULL);
    for (uint32_t i = 0; i < blocks; i++) {
        if (!outq_has_buf(&outq))
            index = burn(index + outq_read(&outq), 70);
        todo[i] = outq_get_buf(&outq);
        sem_post(&ready);
    }
    while (outq.bufs_used > 0)
        index = burn(index + outq_read(&outq), 70);
    ending = true;
    for (int i = 0; i < options.threads; i++)
        sem_post(&ready);
    for (int i = 0; i < options.threads; i++)
        pthread_join(workers[i], NULL);
    sem_destroy(&ready);
    free(todo);
    free(outq.bufs);
    print_result(index);
    return 0;
}
