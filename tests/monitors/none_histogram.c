/* Counters under a mutex, incremented and decremented, compared with a limit that only chooses what
 * is computed next. Looks like a semaphore. */
#include <pthread.h>

#include "support.h"

#define LIMIT 3
#define BINS  32

static pthread_mutex_t stats_mutex = PTHREAD_MUTEX_INITIALIZER;
static int in_flight, most_in_flight, over_limit;
static unsigned long histogram[BINS];

static void enter(void) {
    pthread_mutex_lock(&stats_mutex);
    in_flight++;
    if (in_flight > most_in_flight)
        most_in_flight = in_flight;
    if (in_flight >= LIMIT)
        over_limit++;
    pthread_mutex_unlock(&stats_mutex);
}

static void leave(uint64_t value) {
    pthread_mutex_lock(&stats_mutex);
    in_flight--;
    histogram[value % BINS]++;
    pthread_mutex_unlock(&stats_mutex);
}

static int threads, samples;

static void *measure(void *argument) {
    for (int i = (int)(intptr_t)argument; i < samples; i += threads) {
        enter();
        leave(burn((uint64_t)i, 220));
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    samples = scaled(options, 2200);
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, measure, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < BINS; i++)
        sum = sum * 31 + histogram[i];
    free(ids);
    print_result(sum);
    return 0;
}
