/* KIND: a thread that looks every 2 ms how far the others are, until it is told to stop
 * BUILD: gcc -g -O2 -pthread watched.c -o watched
 * RUN: persik profile -- ./watched 2; persik predict; real: -- ./watched {threads}
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

enum { ITEMS = 6000, EVERY_US = 2000 };
static _Atomic int next, stop;
static _Atomic uint64_t total;

static void *compute(void *arg) {
    (void)arg;
    uint64_t sum = 0;
    while (1) {
        int item = atomic_fetch_add(&next, 1);
        if (item >= ITEMS)
            break;
        sum += work((uint64_t)item, 60);
    }
    total += sum;
    return NULL;
}

static void *watch(void *arg) {
    uint64_t *seen = arg;
    while (!stop) {
        *seen = work(*seen + (unsigned)next, 20);
        usleep(EVERY_US);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *ids = malloc((size_t)threads * sizeof *ids), watcher;
    uint64_t seen = 0;
    pthread_create(&watcher, NULL, watch, &seen);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, compute, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    stop = 1;
    pthread_join(watcher, NULL);
    printf("%d %lx\n", seen != 0, (unsigned long)total);
    free(ids);
    return 0;
}
