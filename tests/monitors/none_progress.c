/* A progress display: workers count what is done, a reporter sleeps and looks at the count. It ends
 * by a flag when the workers have been joined; nobody waits for the count. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "support.h"

struct progress {
    pthread_mutex_t lock;
    int done, total;
    int reports;
};

static struct progress progress = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool finished;
static int threads;

static void progress_step(struct progress *p) {
    pthread_mutex_lock(&p->lock);
    p->done++;
    pthread_mutex_unlock(&p->lock);
}

static void *report(void *unused) {
    static const struct timespec interval = {0, 15000000};
    while (!atomic_load(&finished)) {
        nanosleep(&interval, NULL);
        pthread_mutex_lock(&progress.lock);
        if (progress.done < progress.total)
            progress.reports++;
        pthread_mutex_unlock(&progress.lock);
    }
    return unused;
}

static void *convert(void *argument) {
    uint64_t sum = 0;
    for (int i = (int)(intptr_t)argument; i < progress.total; i += threads) {
        sum += burn((uint64_t)i, 750);
        progress_step(&progress);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    progress.total = scaled(options, 640);
    pthread_t reporter, *ids = calloc((size_t)threads, sizeof *ids);
    uint64_t sum = 0;
    pthread_create(&reporter, NULL, report, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, convert, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++) {
        void *part;
        pthread_join(ids[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    atomic_store(&finished, true);
    pthread_join(reporter, NULL);
    free(ids);
    print_result(sum);
    return 0;
}
