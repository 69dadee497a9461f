/* A thread pool of a server: tasks with a handler and a context in a list, no limit; shutting down
 * is a task for each worker which makes it leave. */
#include <pthread.h>

#include "support.h"

typedef struct task_s task_t;
struct task_s {
    task_t *next;
    void (*handler)(void *data, uint64_t *log);
    void *ctx;
};

typedef struct {
    task_t *first;
    task_t **last;
} task_queue_t;

typedef struct {
    pthread_mutex_t mtx;
    task_queue_t queue;
    int waiting;
    pthread_cond_t cond;
    int threads;
} thread_pool_t;

static thread_pool_t pool;

static void thread_pool_post(thread_pool_t *tp, task_t *task) {
    task->next = NULL;
    pthread_mutex_lock(&tp->mtx);
    pthread_cond_signal(&tp->cond);
    *tp->queue.last = task;
    tp->queue.last = &task->next;
    tp->waiting++;
    pthread_mutex_unlock(&tp->mtx);
}

static void exit_handler(void *data, uint64_t *log) {
    (void)log;
    *(int *)data = 1;
}

static void *thread_pool_cycle(void *data) {
    thread_pool_t *tp = &pool;
    uint64_t *log = data;
    int leave = 0;
    while (!leave) {
        pthread_mutex_lock(&tp->mtx);
        tp->waiting--; /* may be negative: then so many threads are idle */
        while (tp->queue.first == NULL)
            pthread_cond_wait(&tp->cond, &tp->mtx);
        task_t *task = tp->queue.first;
        tp->queue.first = task->next;
        if (tp->queue.first == NULL)
            tp->queue.last = &tp->queue.first;
        pthread_mutex_unlock(&tp->mtx);
        task->handler(task->handler == exit_handler ? (void *)&leave : task->ctx, log);
        free(task);
    }
    return NULL;
}

static task_t *task_alloc(void (*handler)(void *, uint64_t *), void *ctx) {
    task_t *task = calloc(1, sizeof *task);
    task->handler = handler;
    task->ctx = ctx;
    return task;
}

static void read_file(void *data, uint64_t *log) {
    *log += burn((uint64_t)(uintptr_t)data, 900);
}

static void send_file(void *data, uint64_t *log) {
    *log += burn((uint64_t)(uintptr_t)data + 1000000, 1400);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    uint64_t logs[options.threads], sum = 0;
    pthread_t tids[options.threads];
    memset(logs, 0, sizeof logs);
    pthread_mutex_init(&pool.mtx, NULL);
    pthread_cond_init(&pool.cond, NULL);
    pool.queue.last = &pool.queue.first;
    pool.threads = options.threads;
    for (int i = 0; i < pool.threads; i++)
        pthread_create(&tids[i], NULL, thread_pool_cycle, &logs[i]);
    for (int i = 0; i < scaled(options, 360); i++) {
        sum += burn((uint64_t)i, 200);
        thread_pool_post(&pool, task_alloc(i % 3 ? read_file : send_file, (void *)(intptr_t)i));
    }
    for (int i = 0; i < pool.threads; i++)
        thread_pool_post(&pool, task_alloc(exit_handler, NULL));
    for (int i = 0; i < pool.threads; i++) {
        pthread_join(tids[i], NULL);
        sum += logs[i];
    }
    print_result(sum);
    return 0;
}
