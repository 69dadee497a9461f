/* KIND: a lock that is tried some times before it sleeps, around a shared table; each thread has
 * its part of the rows BUILD: gcc -g -O2 -pthread tried_first.c -o tried_first RUN: persik profile
 * -- ./tried_first 2; persik predict; real: -- ./tried_first {threads}
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { ROWS = 4000, TRIES = 50 };
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned table[256];
static int threads;

static void lock_table(void) {
    for (int i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(&table_lock) == 0)
            return;
        __builtin_ia32_pause();
    }
    pthread_mutex_lock(&table_lock);
}

static void *fill(void *arg) {
    int me = (int)(long)arg, rows = ROWS / threads;
    for (int i = 0; i < rows; i++) {
        unsigned value = (unsigned)work((unsigned)(me * rows + i), 30);
        lock_table();
        table[value >> 24] = (unsigned)work(value, 4);
        pthread_mutex_unlock(&table_lock);
    }
    return NULL;
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *ids = malloc((size_t)threads * sizeof *ids);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, fill, (void *)(long)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    puts("done");
    return 0;
}
