/* A thread pool whose idle workers each wait on a condition and a mutex of their own, which they
 * lock before they give the pool's back: whoever submits a job passes it to the one that went idle
 * last. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

typedef void (*job_fn)(void *data);

struct job {
    job_fn fn;
    void *data;
    struct job *next;
};

struct pool;

struct idler {
    struct pool *pool;
    pthread_t thread;
    bool is_idle;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct idler *next_idle;
};

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t cond; /* a job is done, or a worker is idle */
    struct job *jobs;
    struct idler *idle;
    int pending, n_workers;
    bool stops;
    struct idler *workers;
};

static struct job *next_job(struct pool *pool, struct idler *self, bool is_done) {
    for (;;) {
        pthread_mutex_lock(&pool->mutex);
        if (is_done) {
            is_done = false;
            pool->pending--;
            pthread_cond_signal(&pool->cond);
        }
        struct job *job = pool->jobs;
        if (job || pool->stops) {
            pool->jobs = job ? job->next : NULL;
            pthread_mutex_unlock(&pool->mutex);
            return job;
        }
        if (!self->is_idle) {
            self->is_idle = true;
            self->next_idle = pool->idle;
            pool->idle = self;
        }
        pthread_mutex_lock(&self->mutex);
        pthread_mutex_unlock(&pool->mutex);
        pthread_cond_wait(&self->cond, &self->mutex);
        pthread_mutex_unlock(&self->mutex);
    }
}

static void *pool_work(void *arg) {
    struct idler *self = arg;
    bool is_done = false;
    for (struct job *job; (job = next_job(self->pool, self, is_done)); is_done = true) {
        job->fn(job->data);
        free(job);
    }
    return NULL;
}

static void pool_submit(struct pool *pool, job_fn fn, void *data) {
    struct job *job = malloc(sizeof *job);
    if (!job)
        abort();
    *job = (struct job){.fn = fn, .data = data};
    pthread_mutex_lock(&pool->mutex);
    while (pool->pending > 10 * pool->n_workers)
        pthread_cond_wait(&pool->cond, &pool->mutex);
    job->next = pool->jobs;
    pool->jobs = job;
    pool->pending++;
    struct idler *idle = pool->idle;
    if (!idle) {
        pthread_mutex_unlock(&pool->mutex);
        return;
    }
    idle->is_idle = false;
    pool->idle = idle->next_idle;
    pthread_mutex_lock(&idle->mutex);
    pthread_mutex_unlock(&pool->mutex);
    pthread_cond_signal(&idle->cond);
    pthread_mutex_unlock(&idle->mutex);
}

static void pool_drain(struct pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    while (pool->pending > 0)
        pthread_cond_wait(&pool->cond, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

static void pool_start(struct pool *pool, int n) {
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->cond, NULL);
    pool->n_workers = n;
    pool->workers = calloc((size_t)n, sizeof *pool->workers);
    for (int i = 0; i < n; i++) {
        struct idler *worker = &pool->workers[i];
        worker->pool = pool;
        pthread_mutex_init(&worker->mutex, NULL);
        pthread_cond_init(&worker->cond, NULL);
        pthread_create(&worker->thread, NULL, pool_work, worker);
    }
}

static void pool_stop(struct pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->stops = true;
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->n_workers; i++) {
        struct idler *worker = &pool->workers[i];
        pthread_mutex_lock(&worker->mutex);
        pthread_cond_signal(&worker->cond);
        pthread_mutex_unlock(&worker->mutex);
    }
    for (int i = 0; i < pool->n_workers; i++)
        pthread_join(pool->workers[i].thread, NULL);
    free(pool->workers);
}

struct block {
    uint64_t in, out;
};

static void code_block(void *data) {
    struct block *block = data;
    block->out = burn(block->in, 700);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct pool pool = {.jobs = NULL};
    enum { TILES = 8 };
    int n = scaled(options, 72);
    struct block *blocks = calloc((size_t)n, sizeof *blocks);
    uint64_t sum = 0;
    pool_start(&pool, options.threads);
    for (int tile = 0; tile < TILES; tile++) {
        for (int i = 0; i < n; i++) {
            blocks[i].in = burn((uint64_t)tile * (uint64_t)n + (uint64_t)i, 20);
            pool_submit(&pool, code_block, &blocks[i]);
        }
        pool_drain(&pool);
        for (int i = 0; i < n; i++)
            sum += blocks[i].out;
        sum = burn(sum, 3000);
    }
    pool_stop(&pool);
    free(blocks);
    print_result(sum);
    return 0;
}
