/* A condition as a sleep that could be cut short: a ticker waits with a timeout that always runs
 * out, until it is told to stop. `ticks` counts; nobody waits for it. Looks like an event or a
 * queue. */
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "support.h"

static struct ticker {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stop;
    long ticks;
} ticker = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};

static void *tick(void *unused) {
    struct timespec until;
    pthread_mutex_lock(&ticker.mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    while (!ticker.stop) {
        until.tv_nsec += 20000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&ticker.wake, &ticker.mutex, &until);
        ticker.ticks++;
    }
    pthread_mutex_unlock(&ticker.mutex);
    return unused;
}

struct part {
    pthread_t thread;
    int from, to;
    uint64_t sum;
};

static void *compute(void *argument) {
    struct part *part = argument;
    for (int i = part->from; i < part->to; i++)
        part->sum += burn((uint64_t)i, 1000);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, total = scaled(options, 480);
    struct part *parts = calloc((size_t)n, sizeof *parts);
    pthread_t ticking;
    pthread_create(&ticking, NULL, tick, NULL);
    for (int i = 0; i < n; i++) {
        parts[i].from = total * i / n;
        parts[i].to = total * (i + 1) / n;
        pthread_create(&parts[i].thread, NULL, compute, &parts[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(parts[i].thread, NULL);
        sum += parts[i].sum;
    }
    pthread_mutex_lock(&ticker.mutex);
    ticker.stop = true;
    pthread_mutex_unlock(&ticker.mutex);
    pthread_join(ticking, NULL);
    free(parts);
    print_result(sum);
    return 0;
}
