/* A log of the last events: a ring with head, count and modulo whose writers never wait: the oldest
 * entry is overwritten. Looks like a bounded queue. */
#include <pthread.h>

#include "support.h"

#define EVENTS 16

static struct event_log {
    pthread_mutex_t lock;
    uint64_t event[EVENTS];
    unsigned head, count;
} events = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void log_event(struct event_log *log, uint64_t event) {
    pthread_mutex_lock(&log->lock);
    log->event[(log->head + log->count) % EVENTS] = event;
    if (log->count == EVENTS)
        log->head = (log->head + 1) % EVENTS;
    else
        log->count++;
    pthread_mutex_unlock(&log->lock);
}

static unsigned drain_events(struct event_log *log) {
    pthread_mutex_lock(&log->lock);
    unsigned drained = log->count;
    log->count = 0;
    log->head = 0;
    pthread_mutex_unlock(&log->lock);
    return drained;
}

static int threads, steps;

static void *step(void *argument) {
    uint64_t sum = 0;
    for (int i = (int)(intptr_t)argument; i < steps; i += threads) {
        sum += burn((uint64_t)i, 650);
        log_event(&events, sum);
        if (i % 50 == 0)
            drain_events(&events);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    steps = scaled(options, 700);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, step, (void *)(intptr_t)i);
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) {
        void *part;
        pthread_join(ids[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    print_result(sum);
    return 0;
}
