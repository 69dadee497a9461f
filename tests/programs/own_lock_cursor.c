/* KIND: a total handed out by a plain variable under a lock of the program's own
 * BUILD: gcc -g -O2 -pthread own_lock_cursor.c -o own_lock_cursor
 * RUN: persik profile -- ./own_lock_cursor 2; predict -- ./own_lock_cursor {threads} */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { TILES = 2500, MOST_THREADS = 64 };

/* A lock by tickets. */
static atomic_uint next_ticket, now_serving;
static int tiles_left = TILES;
static uint64_t picture;

static void lock(void) {
    unsigned mine = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load(&now_serving) != mine)
        sched_yield();
}

static void unlock(void) {
    atomic_fetch_add(&now_serving, 1);
}

static void *render(void *arg) {
    for (;;) {
        lock();
        int tile = tiles_left > 0 ? --tiles_left : -1;
        unlock();
        if (tile < 0)
            break;
        uint64_t pixels = work((uint64_t)tile, 500);
        lock();
        picture ^= pixels;
        unlock();
    }
    return arg;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, render, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%llu\n", (unsigned long long)picture);
    return 0;
}
