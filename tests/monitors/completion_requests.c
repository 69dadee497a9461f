/* An event loop that counts active requests and, at the end of each batch, waits until there are
 * none; requests are counted when they are made and when they are finished, by different threads.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "support.h"

typedef struct loop_s loop_t;

struct loop_s {
    pthread_mutex_t wq_mutex;
    pthread_cond_t wq_idle;
    unsigned active_reqs;
};

static loop_t loop;
static sem_t requested;
static atomic_uint taken;
static unsigned total_reqs;
static atomic_uint_fast64_t bytes;

#define loop_has_active_reqs(l) ((l)->active_reqs > 0)

static void req_register(loop_t *l) {
    pthread_mutex_lock(&l->wq_mutex);
    l->active_reqs++;
    pthread_mutex_unlock(&l->wq_mutex);
    sem_post(&requested);
}

static void req_unregister(loop_t *l) {
    pthread_mutex_lock(&l->wq_mutex);
    l->active_reqs--;
    if (!loop_has_active_reqs(l))
        pthread_cond_broadcast(&l->wq_idle);
    pthread_mutex_unlock(&l->wq_mutex);
}

static void loop_drain(loop_t *l) {
    pthread_mutex_lock(&l->wq_mutex);
    while (loop_has_active_reqs(l))
        pthread_cond_wait(&l->wq_idle, &l->wq_mutex);
    pthread_mutex_unlock(&l->wq_mutex);
}

static void *fs_worker(void *arg) {
    unsigned req;
    for (;;) {
        sem_wait(&requested);
        if ((req = atomic_fetch_add(&taken, 1)) >= total_reqs)
            return arg;
        atomic_fetch_add(&bytes, burn(req, 500 + req % 3 * 400));
        req_unregister(&loop);
    }
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    unsigned batches = (unsigned)scaled(options, 22), req = 0;
    uint64_t sum = 0;
    pthread_t tids[options.threads];

    total_reqs = 26 * batches;
    pthread_mutex_init(&loop.wq_mutex, NULL);
    pthread_cond_init(&loop.wq_idle, NULL);
    sem_init(&requested, 0, 0);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&tids[i], NULL, fs_worker, NULL);
    for (unsigned batch = 0; batch < batches; batch++) {
        for (int i = 0; i < 26; i++) {
            sum += burn(req++, 50);
            req_register(&loop);
        }
        loop_drain(&loop);
    }
    for (int i = 0; i < options.threads; i++)
        sem_post(&requested);
    for (int i = 0; i < options.threads; i++)
        pthread_join(tids[i], NULL);
    sem_destroy(&requested);
    print_result(sum + atomic_load(&bytes));
    return 0;
}
