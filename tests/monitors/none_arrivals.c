/* Arrivals are counted against the number of threads, and the last one begins a new generation; but
 * nobody waits for it. */
#include <pthread.h>

#include "support.h"

typedef struct {
    pthread_mutex_t mutex;
    int arrived, expected;
    unsigned generation;
    uint64_t best;
} round_report;

static round_report rounds;

static void round_arrive(round_report *r, uint64_t score) {
    pthread_mutex_lock(&r->mutex);
    if (score > r->best)
        r->best = score;
    if (++r->arrived == r->expected) {
        r->arrived = 0;
        r->generation++;
    }
    pthread_mutex_unlock(&r->mutex);
}

static int seeds;

static void *search(void *argument) {
    for (int seed = (int)(intptr_t)argument; seed < seeds; seed += rounds.expected)
        round_arrive(&rounds, burn((uint64_t)seed, 850));
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    rounds.expected = options.threads;
    seeds = scaled(options, 600);
    pthread_mutex_init(&rounds.mutex, NULL);
    pthread_t threads[options.threads];
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, search, (void *)(intptr_t)i);
    for (int i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    print_result(rounds.best);
    return 0;
}
