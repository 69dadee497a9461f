/* A manual-reset event in the style of the other system: set, reset, wait. Main starts the rounds
 * of its workers with it. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t signaled;
    bool state;
} EVENT, *HANDLE;

static HANDLE CreateEvent(bool initialState) {
    HANDLE event = malloc(sizeof(EVENT));
    pthread_mutex_init(&event->lock, NULL);
    pthread_cond_init(&event->signaled, NULL);
    event->state = initialState;
    return event;
}

static void SetEvent(HANDLE event) {
    pthread_mutex_lock(&event->lock);
    event->state = true;
    pthread_cond_broadcast(&event->signaled);
    pthread_mutex_unlock(&event->lock);
}

static void ResetEvent(HANDLE event) {
    pthread_mutex_lock(&event->lock);
    event->state = false;
    pthread_mutex_unlock(&event->lock);
}

static void WaitForEvent(HANDLE event) {
    pthread_mutex_lock(&event->lock);
    while (!event->state)
        pthread_cond_wait(&event->signaled, &event->lock);
    pthread_mutex_unlock(&event->lock);
}

static void CloseHandle(HANDLE event) {
    pthread_mutex_destroy(&event->lock);
    pthread_cond_destroy(&event->signaled);
    free(event);
}

static HANDLE hStart;
static pthread_barrier_t roundDone; /* the library's */
static int nThreads, nRounds;
static uint64_t *results;

static void *WorkerThread(void *param) {
    int id = (int)(intptr_t)param;
    for (int round = 0; round < nRounds; round++) {
        WaitForEvent(hStart);
        for (int i = id; i < 24; i += nThreads)
            results[id] += burn((uint64_t)(round * 24 + i), 300);
        pthread_barrier_wait(&roundDone); /* main resets the event now */
        pthread_barrier_wait(&roundDone);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    nThreads = options.threads;
    nRounds = scaled(options, 60);
    results = calloc((size_t)nThreads, sizeof(uint64_t));
    pthread_t *threads = calloc((size_t)nThreads, sizeof(pthread_t));
    uint64_t sum = 0;
    hStart = CreateEvent(false);
    pthread_barrier_init(&roundDone, NULL, (unsigned)nThreads + 1);
    for (int i = 0; i < nThreads; i++)
        pthread_create(&threads[i], NULL, WorkerThread, (void *)(intptr_t)i);
    for (int round = 0; round < nRounds; round++) {
        sum += burn((uint64_t)round, 900);
        SetEvent(hStart);
        pthread_barrier_wait(&roundDone);
        ResetEvent(hStart);
        pthread_barrier_wait(&roundDone);
    }
    for (int i = 0; i < nThreads; i++) {
        pthread_join(threads[i], NULL);
        sum += results[i];
    }
    CloseHandle(hStart);
    pthread_barrier_destroy(&roundDone);
    free(threads);
    free(results);
    print_result(sum);
    return 0;
}
