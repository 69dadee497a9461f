/* KIND: a detached thread for each request, at most so many alive, by a semaphore
 * BUILD: gcc -g -O2 -pthread alive_limit.c -o alive_limit
 * RUN: persik profile -- ./alive_limit 4; predict -- ./alive_limit {threads} */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

static sem_t may_live;
static atomic_uint_fast64_t answers;

static void *answer(void *arg) {
    atomic_fetch_xor(&answers, work((uint64_t)(intptr_t)arg, 1500));
    sem_post(&may_live);
    return NULL;
}

int main(int argc, char **argv) {
    int limit = argc > 1 ? atoi(argv[1]) : 2, requests = argc > 2 ? atoi(argv[2]) : 800;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sem_init(&may_live, 0, (unsigned)limit);
    for (int request = 0; request < requests; request++) {
        pthread_t id;
        sem_wait(&may_live);
        if (pthread_create(&id, &detached, answer, (void *)(intptr_t)request))
            abort();
    }
    for (int i = 0; i < limit; i++)
        sem_wait(&may_live);
    printf("%llu\n", (unsigned long long)answers);
    return 0;
}
