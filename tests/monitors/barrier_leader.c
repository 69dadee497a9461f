/* A barrier that is entered twice in each step: in between, what must be done by one thread only is
 * done by thread 0, under a lock that readers of the result take, too. */
#include <pthread.h>

#include "support.h"

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int waiting, total;
    unsigned long cycle;
} sync_point_t;

typedef struct {
    pthread_mutex_t lock;
    uint64_t residual;
    int steps;
} state_t;

static sync_point_t sync_point;
static state_t state = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int nthreads, nsteps;
static uint64_t *part;

static void sync_threads(sync_point_t *point) {
    pthread_mutex_lock(&point->lock);
    unsigned long cycle = point->cycle;
    if (++point->waiting < point->total) {
        while (point->cycle == cycle)
            pthread_cond_wait(&point->all_here, &point->lock);
    } else {
        point->waiting = 0;
        point->cycle++;
        pthread_cond_broadcast(&point->all_here);
    }
    pthread_mutex_unlock(&point->lock);
}

static void *solve(void *arg) {
    int tid = (int)(intptr_t)arg;

    for (int step = 0; step < nsteps; step++) {
        uint64_t sum = 0;
        for (int row = tid; row < 40; row += nthreads)
            sum += burn((uint64_t)(step * 40 + row), 150);
        part[tid] = sum;
        sync_threads(&sync_point);
        if (tid == 0) {
            pthread_mutex_lock(&state.lock);
            for (int i = 0; i < nthreads; i++)
                state.residual += part[i];
            state.residual = burn(state.residual, 500);
            state.steps++;
            pthread_mutex_unlock(&state.lock);
        }
        sync_threads(&sync_point);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);

    nthreads = options.threads;
    nsteps = scaled(options, 75);
    part = calloc((size_t)nthreads, sizeof(*part));
    pthread_t *threads = calloc((size_t)nthreads, sizeof(*threads));
    pthread_mutex_init(&sync_point.lock, NULL);
    pthread_cond_init(&sync_point.all_here, NULL);
    sync_point.total = nthreads;
    for (int i = 0; i < nthreads; i++)
        pthread_create(&threads[i], NULL, solve, (void *)(intptr_t)i);
    for (int i = 0; i < nthreads; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&state.lock);
    uint64_t result = state.residual + (uint64_t)state.steps;
    pthread_mutex_unlock(&state.lock);
    free(threads);
    free(part);
    print_result(result);
    return 0;
}
