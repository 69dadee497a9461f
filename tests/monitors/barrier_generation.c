/* A cyclic barrier: arrivals are counted, a generation number tells a late waiter that its round is
 * over. As many parties as threads. */
#include <pthread.h>

#include "support.h"

struct barrier {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    unsigned parties, arrived, generation;
};

static void barrier_init(struct barrier *b, unsigned parties) {
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->cond, NULL);
    b->parties = parties;
    b->arrived = 0;
    b->generation = 0;
}

static void barrier_wait(struct barrier *b) {
    pthread_mutex_lock(&b->mutex);
    unsigned generation = b->generation;
    if (++b->arrived == b->parties) {
        b->arrived = 0;
        b->generation++;
        pthread_cond_broadcast(&b->cond);
    } else {
        while (generation == b->generation)
            pthread_cond_wait(&b->cond, &b->mutex);
    }
    pthread_mutex_unlock(&b->mutex);
}

#define CELLS 48

static struct barrier barrier;
static int threads, steps;
static uint64_t grid[2][CELLS];

static void *simulate(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int step = 0; step < steps; step++) {
        const uint64_t *from = grid[step % 2];
        uint64_t *to = grid[(step + 1) % 2];
        for (int i = CELLS * me / threads; i < CELLS * (me + 1) / threads; i++)
            to[i] = burn(from[i] + from[(i + 1) % CELLS], 100);
        barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    steps = scaled(options, 110);
    for (int i = 0; i < CELLS; i++)
        grid[0][i] = (uint64_t)i;
    barrier_init(&barrier, (unsigned)threads);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, simulate, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < CELLS; i++)
        sum += grid[steps % 2][i];
    print_result(sum);
    return 0;
}
