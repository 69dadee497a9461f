/* KIND: a slot for one item for each worker, with a pair of semaphores: full and empty
 * BUILD: gcc -g -O2 -pthread slot_pairs.c -o slot_pairs
 * RUN: persik profile -- ./slot_pairs 2; persik predict; real: -- ./slot_pairs {threads}
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { ITEMS = 6000, LAST = -1 };
struct slot {
    sem_t full, empty;
    long item;
    uint64_t sum;
    pthread_t id;
};

static void *compute(void *arg) {
    struct slot *slot = arg;
    while (1) {
        sem_wait(&slot->full);
        long item = slot->item;
        sem_post(&slot->empty);
        if (item == LAST)
            return NULL;
        slot->sum += work((uint64_t)item, 60);
    }
}

static void put(struct slot *slot, long item) {
    sem_wait(&slot->empty);
    slot->item = item;
    sem_post(&slot->full);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    struct slot *slots = calloc((size_t)threads, sizeof *slots);
    for (int i = 0; i < threads; i++) {
        sem_init(&slots[i].full, 0, 0);
        sem_init(&slots[i].empty, 0, 1);
        pthread_create(&slots[i].id, NULL, compute, &slots[i]);
    }
    uint64_t sum = 1;
    for (long i = 0; i < ITEMS; i++) {
        sum = work(sum, 12);
        put(&slots[i % threads], i);
    }
    for (int i = 0; i < threads; i++)
        put(&slots[i], LAST);
    for (int i = 0; i < threads; i++) {
        pthread_join(slots[i].id, NULL);
        sum += slots[i].sum;
    }
    printf("%lx\n", (unsigned long)sum);
    free(slots);
    return 0;
}
