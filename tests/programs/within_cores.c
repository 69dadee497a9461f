/* KIND: threads capped by the cores that the program may use
 * BUILD: gcc -g -O2 -pthread within_cores.c -o within_cores
 * RUN: persik profile -- ./within_cores 2; predict -- ./within_cores {threads} */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { ROUNDS = 900, MOST_THREADS = 64 };

static atomic_ullong sum;

/* Each has work of its own, so that fewer threads do less. */
static void *work_alone(void *arg) {
    uint64_t seed = (uint64_t)(uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++)
        seed = work(seed, 200);
    atomic_fetch_add(&sum, seed & 1);
    return NULL;
}

static int cores(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    return CPU_COUNT(&allowed);
}

int main(int argc, char **argv) {
    int asked = argc > 1 ? atoi(argv[1]) : 2;
    int most = cores();
    int threads = asked < most ? asked : most;
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work_alone, &ids[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
