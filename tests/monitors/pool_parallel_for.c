/* execute(function, count): a pool that runs one function over many indices, handed out under the
 * mutex, and returns when all are done. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

typedef uint64_t action_func(void *priv, int jobnr);

typedef struct SliceThread {
    pthread_t *workers;
    int nb_workers;
    action_func *func;
    void *priv;
    int nb_jobs, current_job, jobs_done;
    bool done;
    uint64_t *rets;
    pthread_mutex_t current_job_lock;
    pthread_cond_t current_job_cond, last_job_cond;
} SliceThread;

/* One job, if there is one: called and returns with the lock held. */
static bool run_one(SliceThread *c) {
    if (c->current_job >= c->nb_jobs)
        return false;
    int job = c->current_job++;
    action_func *func = c->func;
    pthread_mutex_unlock(&c->current_job_lock);
    uint64_t ret = func(c->priv, job);
    pthread_mutex_lock(&c->current_job_lock);
    c->rets[job] = ret;
    if (++c->jobs_done == c->nb_jobs)
        pthread_cond_signal(&c->last_job_cond);
    return true;
}

static void *thread_worker(void *v) {
    SliceThread *c = v;
    pthread_mutex_lock(&c->current_job_lock);
    for (;;) {
        while (c->current_job >= c->nb_jobs && !c->done)
            pthread_cond_wait(&c->current_job_cond, &c->current_job_lock);
        if (c->done)
            break;
        run_one(c);
    }
    pthread_mutex_unlock(&c->current_job_lock);
    return NULL;
}

static void thread_execute(SliceThread *c, action_func *func, void *priv, uint64_t *rets, int n) {
    pthread_mutex_lock(&c->current_job_lock);
    c->func = func;
    c->priv = priv;
    c->rets = rets;
    c->jobs_done = 0;
    c->current_job = 0;
    c->nb_jobs = n;
    pthread_cond_broadcast(&c->current_job_cond);
    while (c->jobs_done < c->nb_jobs)
        pthread_cond_wait(&c->last_job_cond, &c->current_job_lock);
    pthread_mutex_unlock(&c->current_job_lock);
}

static uint64_t blur(void *priv, int jobnr) {
    return burn((uint64_t)jobnr + *(uint64_t *)priv, 450);
}

static uint64_t sharpen(void *priv, int jobnr) {
    return burn((uint64_t)jobnr ^ *(uint64_t *)priv, 750);
}

#define SLICES 28

int main(int argc, char **argv) {
    struct options o = read_options(argc, argv);
    SliceThread c = {.nb_workers = o.threads,
                     .current_job_lock = PTHREAD_MUTEX_INITIALIZER,
                     .current_job_cond = PTHREAD_COND_INITIALIZER,
                     .last_job_cond = PTHREAD_COND_INITIALIZER};
    uint64_t rets[SLICES], sum = 0;

    c.workers = calloc((size_t)c.nb_workers, sizeof(*c.workers));
    for (int i = 0; i < c.nb_workers; i++)
        pthread_create(&c.workers[i], NULL, thread_worker, &c);
    for (int frame = 0; frame < scaled(o, 30); frame++) {
        thread_execute(&c, frame % 2 ? blur : sharpen, &sum, rets, SLICES);
        for (int i = 0; i < SLICES; i++)
            sum += rets[i];
        sum = burn(sum, 800);
    }
    pthread_mutex_lock(&c.current_job_lock);
    c.done = true;
    pthread_cond_broadcast(&c.current_job_cond);
    pthread_mutex_unlock(&c.current_job_lock);
    for (int i = 0; i < c.nb_workers; i++)
        pthread_join(c.workers[i], NULL);
    free(c.workers);
    print_result(sum);
    return 0;
}
