/* KIND: threads go on until a count that all add to reaches a total, which the creator polls
 * BUILD: gcc -g -O2 -pthread samples_wanted.c -o samples_wanted
 * RUN: persik profile -- ./samples_wanted 2; predict -- ./samples_wanted {threads} */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

enum { WANTED = 3000, BATCH = 10, LOOK_US = 20000, MOST_THREADS = 64 };

static atomic_int collected;
static atomic_ullong sum;

static void *collect(void *arg) {
    uint64_t seed = (uint64_t)(uintptr_t)arg;
    while (atomic_load(&collected) < WANTED) {
        for (int i = 0; i < BATCH; i++)
            seed = work(seed, 400);
        atomic_fetch_add(&collected, BATCH);
    }
    atomic_fetch_add(&sum, seed & 1);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, collect, (void *)(uintptr_t)(i + 1));
    while (atomic_load(&collected) < WANTED)
        usleep(LOOK_US);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%d samples, %llu\n", WANTED, (unsigned long long)sum);
    return 0;
}
