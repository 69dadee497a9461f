/* Futures: every job has its own mutex, condition, ready flag and value. Main asks for the values
 * in the order of the jobs while the workers take jobs from an atomic counter. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support.h"

typedef struct future_s {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool ready;
    uint64_t value;
} future_t;

static void future_init(future_t *f) {
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->cond, NULL);
    f->ready = false;
}

static void future_set(future_t *f, uint64_t value) {
    pthread_mutex_lock(&f->mutex);
    f->value = value;
    f->ready = true;
    pthread_cond_broadcast(&f->cond);
    pthread_mutex_unlock(&f->mutex);
}

static uint64_t future_get(future_t *f) {
    uint64_t value;
    pthread_mutex_lock(&f->mutex);
    while (!f->ready)
        pthread_cond_wait(&f->cond, &f->mutex);
    value = f->value;
    pthread_mutex_unlock(&f->mutex);
    return value;
}

static future_t *futures;
static atomic_int next;
static int n_jobs;

static void *evaluate(void *unused) {
    (void)unused;
    for (int i; (i = atomic_fetch_add(&next, 1)) < n_jobs;)
        future_set(&futures[i], burn((uint64_t)i, 1600));
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    n_jobs = scaled(options, 240);
    futures = malloc((size_t)n_jobs * sizeof *futures);
    for (int i = 0; i < n_jobs; i++)
        future_init(&futures[i]);
    pthread_t *pool = malloc((size_t)options.threads * sizeof *pool);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&pool[i], NULL, evaluate, NULL);
    uint64_t sum = 0;
    for (int i = 0; i < n_jobs; i++)
        sum = burn(sum + future_get(&futures[i]), 300);
    for (int i = 0; i < options.threads; i++)
        pthread_join(pool[i], NULL);
    free(pool);
    free(futures);
    print_result(sum);
    return 0;
}
