/* A ring with put and get that never wait: put drops what does not fit, get says that there is
 * nothing. Samples for a display that may be lost; main looks in between its own work. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define SAMPLES 8

struct sample_ring {
    pthread_mutex_t mutex;
    int values[SAMPLES];
    unsigned first, count;
    unsigned long dropped, shown;
};

static struct sample_ring display = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool ring_try_put(struct sample_ring *r, int value) {
    bool fits;
    pthread_mutex_lock(&r->mutex);
    fits = r->count < SAMPLES;
    if (fits) {
        r->values[(r->first + r->count) % SAMPLES] = value;
        r->count++;
    } else {
        r->dropped++;
    }
    pthread_mutex_unlock(&r->mutex);
    return fits;
}

static bool ring_try_get(struct sample_ring *r, int *value) {
    bool any;
    pthread_mutex_lock(&r->mutex);
    any = r->count > 0;
    if (any) {
        *value = r->values[r->first];
        r->first = (r->first + 1) % SAMPLES;
        r->count--;
        r->shown++;
    }
    pthread_mutex_unlock(&r->mutex);
    return any;
}

static int threads, total;

static void *measure(void *argument) {
    uint64_t sum = 0;
    for (int i = (int)(intptr_t)argument; i < total; i += threads) {
        sum += burn((uint64_t)i, 480);
        ring_try_put(&display, i);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    total = scaled(options, 700);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, measure, (void *)(intptr_t)i);
    uint64_t sum = 0;
    for (int picture = 0; picture < scaled(options, 120); picture++) {
        int value;
        sum += burn((uint64_t)picture, 1500);
        while (ring_try_get(&display, &value))
            continue;
    }
    for (int i = 0; i < threads; i++) {
        void *part;
        pthread_join(ids[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    print_result(sum);
    return 0;
}
