/* Credits: main may be two jobs per thread ahead of the workers. It takes a credit for each job
 * that it publishes through a library semaphore, a worker gives it back when the job is done. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "support.h"

struct credits {
    int left;
    pthread_mutex_t lock;
    pthread_cond_t given_back;
};

static struct credits credits;
static sem_t published;
static atomic_int next;
static int jobs;

static inline void credits_take(struct credits *c) {
    pthread_mutex_lock(&c->lock);
    while (!(c->left > 0))
        pthread_cond_wait(&c->given_back, &c->lock);
    --c->left;
    pthread_mutex_unlock(&c->lock);
}

static inline void credits_give(struct credits *c) {
    pthread_mutex_lock(&c->lock);
    ++c->left;
    pthread_mutex_unlock(&c->lock);
    pthread_cond_signal(&c->given_back);
}

static void *worker(void *result) {
    uint64_t sum = 0;
    for (;;) {
        sem_wait(&published);
        int job = atomic_fetch_add(&next, 1);
        if (job >= jobs)
            break;
        sum += burn((uint64_t)job, 1000);
        credits_give(&credits);
    }
    *(uint64_t *)result = sum;
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int threads = options.threads;
    jobs = scaled(options, 440);
    credits.left = 2 * threads;
    pthread_mutex_init(&credits.lock, NULL);
    pthread_cond_init(&credits.given_back, NULL);
    sem_init(&published, 0, 0);
    pthread_t ids[threads];
    uint64_t sums[threads], sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, worker, &sums[i]);
    for (int i = 0; i < jobs; i++) {
        sum += burn((uint64_t)i, 130);
        credits_take(&credits);
        sem_post(&published);
    }
    for (int i = 0; i < threads; i++)
        sem_post(&published);
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += sums[i];
    }
    sem_destroy(&published);
    print_result(sum);
    return 0;
}
