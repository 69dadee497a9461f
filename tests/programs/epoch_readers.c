/* KIND: readers that announce an epoch; a writer replaces the table, waits until nobody reads the
 * old one, and sleeps, until the readers are done
 * BUILD: gcc -g -O2 -pthread epoch_readers.c -o epoch_readers
 * RUN: persik profile -- ./epoch_readers 2; persik predict; real: -- ./epoch_readers {threads}
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

enum { READS = 20000, ROWS = 512, MOST_UPDATES = 1000, EVERY_US = 5000 };
struct reader {
    _Atomic unsigned long seen; /* epoch in which it reads; 0: it does not */
    char own_line[56];
    pthread_t id;
    uint64_t sum;
};
static struct reader *readers;
static int threads;
static _Atomic unsigned long epoch = 1;
static _Atomic(uint64_t *) table;
static _Atomic int reading;

static void *read_rows(void *arg) {
    struct reader *reader = arg;
    for (int i = 0; i < READS / threads; i++) {
        reader->seen = epoch;
        uint64_t *rows = table;
        reader->sum += work(rows[i % ROWS], 20);
        reader->seen = 0;
    }
    reading--;
    return NULL;
}

static void wait_for_readers(void) {
    unsigned long now = ++epoch;
    for (int i = 0; i < threads; i++)
        while (readers[i].seen && readers[i].seen < now)
            sched_yield();
}

static void *update(void *arg) {
    (void)arg;
    for (int i = 0; i < MOST_UPDATES && reading > 0; i++) {
        uint64_t *rows = malloc(ROWS * sizeof *rows);
        for (int r = 0; r < ROWS; r++)
            rows[r] = work((uint64_t)r, 1);
        uint64_t *old = atomic_exchange(&table, rows);
        wait_for_readers();
        free(old);
        usleep(EVERY_US);
    }
    return NULL;
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    readers = calloc((size_t)threads, sizeof *readers);
    table = calloc(ROWS, sizeof(uint64_t));
    reading = threads;
    pthread_t writer;
    pthread_create(&writer, NULL, update, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&readers[i].id, NULL, read_rows, &readers[i]);
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(readers[i].id, NULL);
        sum += readers[i].sum;
    }
    pthread_join(writer, NULL);
    printf("%lx\n", (unsigned long)sum);
    free(readers);
    return 0;
}
