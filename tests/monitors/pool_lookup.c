/* Jobs of a fixed number travel between three lists: unused, to run, done. The caller fetches the
 * result of a certain job from the list of those done. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define MAX_JOBS 8

typedef struct {
    void *(*func)(void *);
    void *arg;
    void *ret;
} x_job_t;

typedef struct {
    x_job_t *list[MAX_JOBS + 1];
    int i_size;
    pthread_mutex_t mutex;
    pthread_cond_t cv_fill, cv_empty;
} x_list_t;

typedef struct {
    volatile bool exit;
    int threads;
    pthread_t *thread_handle;
    x_list_t uninit, run, done;
} x_threadpool_t;

static void list_init(x_list_t *l) {
    memset(l, 0, sizeof(*l));
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->cv_fill, NULL);
    pthread_cond_init(&l->cv_empty, NULL);
}

static void list_push(x_list_t *l, x_job_t *job) {
    pthread_mutex_lock(&l->mutex);
    while (l->i_size == MAX_JOBS)
        pthread_cond_wait(&l->cv_empty, &l->mutex);
    l->list[l->i_size++] = job;
    pthread_mutex_unlock(&l->mutex);
    pthread_cond_broadcast(&l->cv_fill);
}

static x_job_t *list_shift(x_list_t *l) {
    x_job_t *job = l->list[0];
    memmove(l->list, l->list + 1, (size_t)--l->i_size * sizeof(*l->list));
    return job;
}

static void *threadpool_thread(void *arg) {
    x_threadpool_t *pool = arg;
    for (;;) {
        x_job_t *job = NULL;
        pthread_mutex_lock(&pool->run.mutex);
        while (!pool->exit && !pool->run.i_size)
            pthread_cond_wait(&pool->run.cv_fill, &pool->run.mutex);
        if (pool->run.i_size) {
            job = list_shift(&pool->run);
            pthread_cond_broadcast(&pool->run.cv_empty);
        }
        pthread_mutex_unlock(&pool->run.mutex);
        if (!job)
            return NULL;
        job->ret = job->func(job->arg);
        list_push(&pool->done, job);
    }
}

static void threadpool_run(x_threadpool_t *pool, void *(*func)(void *), void *arg) {
    pthread_mutex_lock(&pool->uninit.mutex);
    while (!pool->uninit.i_size)
        pthread_cond_wait(&pool->uninit.cv_fill, &pool->uninit.mutex);
    x_job_t *job = list_shift(&pool->uninit);
    pthread_mutex_unlock(&pool->uninit.mutex);
    job->func = func;
    job->arg = arg;
    list_push(&pool->run, job);
}

static void *threadpool_wait(x_threadpool_t *pool, const void *arg) {
    pthread_mutex_lock(&pool->done.mutex);
    for (;;) {
        for (int i = 0; i < pool->done.i_size; i++) {
            x_job_t *job = pool->done.list[i];
            if (job->arg != arg)
                continue;
            pool->done.list[i] = pool->done.list[--pool->done.i_size];
            pthread_mutex_unlock(&pool->done.mutex);
            void *ret = job->ret;
            list_push(&pool->uninit, job);
            return ret;
        }
        pthread_cond_wait(&pool->done.cv_fill, &pool->done.mutex);
    }
}

static void *lookahead(void *arg) {
    return (void *)(uintptr_t)burn((uint64_t)(uintptr_t)arg, 1100);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    x_threadpool_t pool = {.threads = options.threads};
    x_job_t jobs[MAX_JOBS];
    intptr_t frames = scaled(options, 400), delay = MAX_JOBS - 1;
    uint64_t sum = 0;

    list_init(&pool.uninit);
    list_init(&pool.run);
    list_init(&pool.done);
    for (int i = 0; i < MAX_JOBS; i++)
        list_push(&pool.uninit, &jobs[i]);
    pool.thread_handle = calloc((size_t)pool.threads, sizeof(pthread_t));
    for (int i = 0; i < pool.threads; i++)
        pthread_create(&pool.thread_handle[i], NULL, threadpool_thread, &pool);
    for (intptr_t f = 0; f < frames + delay; f++) {
        if (f < frames)
            threadpool_run(&pool, lookahead, (void *)(f + 1));
        if (f >= delay)
            sum = burn(sum + (uint64_t)(uintptr_t)threadpool_wait(&pool, (void *)(f - delay + 1)),
                       150);
    }
    pthread_mutex_lock(&pool.run.mutex);
    pool.exit = true;
    pthread_cond_broadcast(&pool.run.cv_fill);
    pthread_mutex_unlock(&pool.run.mutex);
    for (int i = 0; i < pool.threads; i++)
        pthread_join(pool.thread_handle[i], NULL);
    free(pool.thread_handle);
    print_result(sum);
    return 0;
}
