/* KIND: readers with quiescent states, and an updater that sleeps until all have passed one
 * BUILD: gcc -g -O2 -pthread grace_period.c -o grace_period
 * RUN: persik profile -- ./grace_period 2; persik predict; real: -- ./grace_period {threads}
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

enum { THREADS = 64, LOOKUPS = 3600, AT_ONCE = 10, UPDATES = 90, ROWS = 512 };
static int threads;
static uint64_t *_Atomic table;
static struct {
    _Atomic long passed;
    char own_line[56];
} quiescent[THREADS];
static _Atomic int next, running;
static _Atomic uint64_t total;

static void *look_up(void *arg) {
    long number = (long)arg;
    uint64_t own = 0;
    while (1) {
        int first = atomic_fetch_add(&next, AT_ONCE);
        if (first >= LOOKUPS)
            break;
        for (int i = 0; i < AT_ONCE; i++) {
            const uint64_t *rows = atomic_load(&table);
            own += work(rows[(first + i) % ROWS] & 0xffff, 60);
        }
        atomic_fetch_add(&quiescent[number].passed, 1);
    }
    atomic_store(&quiescent[number].passed, -1);
    atomic_fetch_sub(&running, 1);
    atomic_fetch_add(&total, own);
    return NULL;
}

static void wait_for_readers(void) {
    long seen[THREADS];
    for (int i = 0; i < threads; i++)
        seen[i] = atomic_load(&quiescent[i].passed);
    for (int i = 0; i < threads; i++)
        while (seen[i] >= 0 && atomic_load(&quiescent[i].passed) == seen[i])
            usleep(200);
}

/* Seldom as often as it may. */
static void *update(void *unused) {
    for (int round = 0; round < UPDATES && atomic_load(&running) > 0; round++) {
        uint64_t *fresh = malloc(ROWS * sizeof *fresh), *old = atomic_load(&table);
        for (int i = 0; i < ROWS; i++)
            fresh[i] = old[i] + (uint64_t)round;
        atomic_store(&table, fresh);
        wait_for_readers();
        free(old);
        usleep(1500);
    }
    return unused;
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *ids = calloc((size_t)threads, sizeof *ids), updater;
    running = threads;
    table = calloc(ROWS, sizeof(uint64_t));
    for (long i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, look_up, (void *)i);
    pthread_create(&updater, NULL, update, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_join(updater, NULL);
    free(ids);
    printf("%d\n", total != 0);
    return 0;
}
