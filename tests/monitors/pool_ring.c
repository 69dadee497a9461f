/* A thread pool over a ring of tasks with one place more than its size, so that head == tail means
 * empty; adding waits for room. Workers run function pointers. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "support.h"

typedef void (*pool_function)(void *);

typedef struct pool_job_s {
    pool_function function;
    void *opaque;
} pool_job;

typedef struct pool_ctx_s {
    pthread_t *threads;
    size_t threadCapacity;
    pool_job *queue;
    size_t queueHead, queueTail, queueSize;
    pthread_mutex_t queueMutex;
    pthread_cond_t queuePushCond;
    pthread_cond_t queuePopCond;
    bool shutdown;
} pool_ctx;

static void *pool_thread(void *opaque) {
    pool_ctx *const ctx = opaque;
    for (;;) {
        pthread_mutex_lock(&ctx->queueMutex);
        while (ctx->queueHead == ctx->queueTail) {
            if (ctx->shutdown) {
                pthread_mutex_unlock(&ctx->queueMutex);
                return opaque;
            }
            pthread_cond_wait(&ctx->queuePopCond, &ctx->queueMutex);
        }
        pool_job const job = ctx->queue[ctx->queueHead];
        ctx->queueHead = (ctx->queueHead + 1) % ctx->queueSize;
        pthread_cond_signal(&ctx->queuePushCond);
        pthread_mutex_unlock(&ctx->queueMutex);
        job.function(job.opaque);
    }
}

static pool_ctx *pool_create(size_t numThreads, size_t queueSize) {
    pool_ctx *const ctx = calloc(1, sizeof *ctx);
    ctx->queueSize = queueSize + 1;
    ctx->queue = calloc(ctx->queueSize, sizeof *ctx->queue);
    ctx->threads = calloc(numThreads, sizeof *ctx->threads);
    pthread_mutex_init(&ctx->queueMutex, NULL);
    pthread_cond_init(&ctx->queuePushCond, NULL);
    pthread_cond_init(&ctx->queuePopCond, NULL);
    ctx->threadCapacity = numThreads;
    for (size_t i = 0; i < numThreads; i++)
        pthread_create(&ctx->threads[i], NULL, &pool_thread, ctx);
    return ctx;
}

static bool queue_is_full(const pool_ctx *ctx) {
    return ctx->queueHead == (ctx->queueTail + 1) % ctx->queueSize;
}

static void pool_add(pool_ctx *ctx, pool_function function, void *opaque) {
    pthread_mutex_lock(&ctx->queueMutex);
    while (queue_is_full(ctx))
        pthread_cond_wait(&ctx->queuePushCond, &ctx->queueMutex);
    ctx->queue[ctx->queueTail] = (pool_job){function, opaque};
    ctx->queueTail = (ctx->queueTail + 1) % ctx->queueSize;
    pthread_cond_signal(&ctx->queuePopCond);
    pthread_mutex_unlock(&ctx->queueMutex);
}

static void pool_free(pool_ctx *ctx) {
    pthread_mutex_lock(&ctx->queueMutex);
    ctx->shutdown = true;
    pthread_mutex_unlock(&ctx->queueMutex);
    pthread_cond_broadcast(&ctx->queuePopCond);
    for (size_t i = 0; i < ctx->threadCapacity; i++)
        pthread_join(ctx->threads[i], NULL);
    free(ctx->threads);
    free(ctx->queue);
    free(ctx);
}

static void light_job(void *slot) {
    uint64_t *value = slot;
    *value = burn(*value, 700);
}

static void heavy_job(void *slot) {
    uint64_t *value = slot;
    *value = burn(*value, 2100);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int jobs = scaled(options, 360);
    uint64_t *slots = calloc((size_t)jobs, sizeof *slots), sum = 0;
    pool_ctx *pool = pool_create((size_t)options.threads, 6);
    for (int i = 0; i < jobs; i++) {
        slots[i] = burn((uint64_t)i, 90);
        pool_add(pool, i % 4 == 0 ? heavy_job : light_job, &slots[i]);
    }
    pool_free(pool);
    for (int i = 0; i < jobs; i++)
        sum += slots[i];
    free(slots);
    print_result(sum);
    return 0;
}
