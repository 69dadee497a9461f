/* Workers that park: each waits on a semaphore of its own until it is given an item. Items that
 * wait and workers that do are matched under one lock by whoever comes second: the producer, who
 * finds a parked worker, or the worker, who finds an item and wakes itself. Usage: parked THREADS
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 300, MOST_THREADS = 64 };

struct worker {
    pthread_t thread;
    sem_t given;
    int item; /* -1: no more */
};

static struct {
    pthread_mutex_t mutex;
    int items[ITEMS + MOST_THREADS];
    int first, last;
    struct worker *idle[MOST_THREADS];
    int n_idle;
} hall = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct worker workers[MOST_THREADS];
static unsigned long checksum;

static unsigned long compute(unsigned long value, int rounds) {
    for (int i = 0; i < rounds * 1000; i++)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    return value;
}

static void match(void) {
    while (hall.first < hall.last && hall.n_idle > 0) {
        struct worker *worker = hall.idle[--hall.n_idle];
        worker->item = hall.items[hall.first++];
        sem_post(&worker->given);
    }
}

static void give(int item) {
    pthread_mutex_lock(&hall.mutex);
    hall.items[hall.last++] = item;
    match();
    pthread_mutex_unlock(&hall.mutex);
}

static int take(struct worker *worker) {
    pthread_mutex_lock(&hall.mutex);
    hall.idle[hall.n_idle++] = worker;
    match();
    pthread_mutex_unlock(&hall.mutex);
    sem_wait(&worker->given);
    return worker->item;
}

static void *work(void *argument) {
    int item;
    while ((item = take(argument)) >= 0)
        __atomic_fetch_add(&checksum, compute((unsigned long)item, 1500), __ATOMIC_RELAXED);
    return argument;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    for (int i = 0; i < threads; i++) {
        sem_init(&workers[i].given, 0, 0);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < ITEMS; i++)
        give((int)(compute((unsigned long)i, 300) % 1000));
    for (int i = 0; i < threads; i++)
        give(-1);
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%lx\n", checksum);
    return 0;
}
