/* An asynchronous queue of a library: reference counted, functions with and without the lock,
 * waiting threads are counted and signalled only when there are any. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

typedef struct _AsyncQueue AsyncQueue;

struct _Link {
    struct _Link *next, *prev;
    void *data;
};

struct _AsyncQueue {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct _Link *head, *tail;
    unsigned waiting_threads;
    atomic_int ref_count;
};

static AsyncQueue *async_queue_new(void) {
    AsyncQueue *queue = calloc(1, sizeof(AsyncQueue));
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->cond, NULL);
    atomic_init(&queue->ref_count, 1);
    return queue;
}

static AsyncQueue *async_queue_ref(AsyncQueue *queue) {
    atomic_fetch_add(&queue->ref_count, 1);
    return queue;
}

static void async_queue_unref(AsyncQueue *queue) {
    if (atomic_fetch_sub(&queue->ref_count, 1) == 1) {
        pthread_mutex_destroy(&queue->mutex);
        pthread_cond_destroy(&queue->cond);
        free(queue);
    }
}

static void async_queue_push_unlocked(AsyncQueue *queue, void *data) {
    struct _Link *link = malloc(sizeof(*link));
    link->data = data;
    link->prev = NULL;
    link->next = queue->head;
    if (queue->head)
        queue->head->prev = link;
    else
        queue->tail = link;
    queue->head = link;
    if (queue->waiting_threads > 0)
        pthread_cond_signal(&queue->cond);
}

static void async_queue_push(AsyncQueue *queue, void *data) {
    pthread_mutex_lock(&queue->mutex);
    async_queue_push_unlocked(queue, data);
    pthread_mutex_unlock(&queue->mutex);
}

static void *async_queue_pop_intern_unlocked(AsyncQueue *queue) {
    if (!queue->tail) {
        queue->waiting_threads++;
        while (!queue->tail)
            pthread_cond_wait(&queue->cond, &queue->mutex);
        queue->waiting_threads--;
    }
    struct _Link *link = queue->tail;
    void *data = link->data;
    queue->tail = link->prev;
    if (queue->tail)
        queue->tail->next = NULL;
    else
        queue->head = NULL;
    free(link);
    return data;
}

static void *async_queue_pop(AsyncQueue *queue) {
    void *retval;
    pthread_mutex_lock(&queue->mutex);
    retval = async_queue_pop_intern_unlocked(queue);
    pthread_mutex_unlock(&queue->mutex);
    return retval;
}

typedef struct {
    AsyncQueue *queue;
    uint64_t checksum;
} Worker;

static void *worker_thread(void *data) {
    Worker *worker = data;
    for (intptr_t n; (n = (intptr_t)async_queue_pop(worker->queue)) > 0;)
        worker->checksum += burn((uint64_t)n, 1200);
    async_queue_unref(worker->queue);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    AsyncQueue *queue = async_queue_new();
    Worker *workers = calloc((size_t)options.threads, sizeof(Worker));
    pthread_t *threads = calloc((size_t)options.threads, sizeof(pthread_t));
    uint64_t checksum = 0;

    for (int i = 0; i < options.threads; i++) {
        workers[i].queue = async_queue_ref(queue);
        pthread_create(&threads[i], NULL, worker_thread, &workers[i]);
    }
    for (intptr_t n = 1; n <= scaled(options, 350); n++) {
        checksum += burn((uint64_t)n, 330);
        async_queue_push(queue, (void *)n);
    }
    for (int i = 0; i < options.threads; i++)
        async_queue_push(queue, (void *)(intptr_t)-1);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        checksum += workers[i].checksum;
    }
    async_queue_unref(queue);
    free(threads);
    free(workers);
    print_result(checksum);
    return 0;
}
