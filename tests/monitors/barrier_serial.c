/* A barrier as portable layers write it for systems without one: the last to arrive gets a
 * different return value and does what only one may do, then all meet again. */
#include <pthread.h>

#include "support.h"

#define BARRIER_SERIAL_THREAD 1

typedef struct barrier_s {
    unsigned threshold;
    unsigned in, out;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} barrier_t;

static int barrier_init(barrier_t *barrier, unsigned count) {
    barrier->in = 0;
    barrier->out = 0;
    barrier->threshold = count;
    if (pthread_mutex_init(&barrier->mutex, NULL) != 0)
        return -1;
    return pthread_cond_init(&barrier->cond, NULL);
}

static int barrier_wait(barrier_t *barrier) {
    int last;

    pthread_mutex_lock(&barrier->mutex);
    while (barrier->out != 0) /* somebody is still leaving the last round */
        pthread_cond_wait(&barrier->cond, &barrier->mutex);
    if (++barrier->in == barrier->threshold) {
        barrier->in = 0;
        barrier->out = barrier->threshold;
        pthread_cond_broadcast(&barrier->cond);
    } else {
        do
            pthread_cond_wait(&barrier->cond, &barrier->mutex);
        while (barrier->in != 0);
    }
    last = --barrier->out == 0;
    if (last)
        pthread_cond_broadcast(&barrier->cond);
    pthread_mutex_unlock(&barrier->mutex);
    return last ? BARRIER_SERIAL_THREAD : 0;
}

static barrier_t barrier;
static int nthreads, iterations;
static uint64_t *partial, global;

static void *iterate(void *arg) {
    int id = (int)(intptr_t)arg;

    for (int it = 0; it < iterations; it++) {
        uint64_t sum = 0;
        for (int i = id; i < 40; i += nthreads)
            sum += burn((uint64_t)(it * 40 + i), 170);
        partial[id] = sum;
        if (barrier_wait(&barrier) == BARRIER_SERIAL_THREAD) {
            for (int i = 0; i < nthreads; i++)
                global += partial[i];
            global = burn(global, 150);
        }
        barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);

    nthreads = options.threads;
    iterations = scaled(options, 75);
    partial = calloc((size_t)nthreads, sizeof(*partial));
    pthread_t *threads = calloc((size_t)nthreads, sizeof(*threads));
    if (barrier_init(&barrier, (unsigned)nthreads) != 0)
        return 1;
    for (int i = 0; i < nthreads; i++)
        pthread_create(&threads[i], NULL, iterate, (void *)(intptr_t)i);
    for (int i = 0; i < nthreads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(partial);
    print_result(global);
    return 0;
}
