/* Counts upwards: `active` may not exceed a limit. Acquire and release stand open in the worker, as
 * people write them when there is only one place. Jobs are dealt with an atomic counter. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

#define MAX_ACTIVE 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t below_limit = PTHREAD_COND_INITIALIZER;
static int active;

static atomic_int next_job;
static int jobs;

static void *compile(void *argument) {
    uint64_t *sum = argument;
    int job;
    while ((job = atomic_fetch_add(&next_job, 1)) < jobs) {
        uint64_t unit = burn((uint64_t)job, 900);

        pthread_mutex_lock(&lock);
        while (active >= MAX_ACTIVE)
            pthread_cond_wait(&below_limit, &lock);
        active++;
        pthread_mutex_unlock(&lock);

        *sum += burn(unit, 350); /* the linker takes much memory */

        pthread_mutex_lock(&lock);
        active--;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&below_limit);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    jobs = scaled(options, 400);
    pthread_t *threads = calloc((size_t)options.threads, sizeof *threads);
    uint64_t *sums = calloc((size_t)options.threads, sizeof *sums), sum = 0;
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, compile, &sums[i]);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    free(sums);
    free(threads);
    print_result(sum);
    return 0;
}
