/* KIND: a benchmark that runs for a given time: what changes is how much it does
 * BUILD: gcc -g -O2 -pthread until_time.c -o until_time
 * RUN: persik profile -- ./until_time 2; predict -- ./until_time {threads} */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

enum { SECONDS = 1, MOST_THREADS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int over;
static unsigned long operations;
static uint64_t sum;

static void *operate(void *arg) {
    while (!atomic_load(&over)) {
        uint64_t result = work((uint64_t)(uintptr_t)arg, 400);
        pthread_mutex_lock(&mutex);
        operations++;
        sum += result;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, operate, (void *)(uintptr_t)(i + 1));
    sleep(SECONDS);
    atomic_store(&over, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%lu operations, %d\n", operations, (int)(sum & 1));
    return 0;
}
