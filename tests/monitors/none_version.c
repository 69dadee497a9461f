/* A version number around each change, as of a sequence lock; but readers take the mutex, too, and
 * never come back for an odd number. */
#include <pthread.h>

#include "support.h"

static struct {
    pthread_mutex_t mutex;
    unsigned version;
    uint64_t clock, zone;
} now = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void now_update(uint64_t delta) {
    pthread_mutex_lock(&now.mutex);
    now.version++;
    now.clock += delta;
    now.zone ^= delta;
    now.version++;
    pthread_mutex_unlock(&now.mutex);
}

static unsigned now_version(void) {
    pthread_mutex_lock(&now.mutex);
    unsigned version = now.version;
    pthread_mutex_unlock(&now.mutex);
    return version;
}

static int threads, ticks;

static void *tick(void *argument) {
    unsigned changes = 0, seen = 0;
    for (int i = (int)(intptr_t)argument; i < ticks; i += threads) {
        uint64_t delta = burn((uint64_t)i, 350);
        if (i % 4 == 0)
            now_update(delta % 1000);
        unsigned version = now_version();
        if (version != seen)
            changes++;
        seen = version;
    }
    return (void *)(uintptr_t)changes;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    ticks = scaled(options, 1400);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, tick, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    print_result(now.clock + now.version);
    return 0;
}
