/* KIND: a pool without debug information whose creator waits once for each thread that it has made
 * BUILD: gcc -O2 -pthread workers_ready.c -o workers_ready
 * RUN: persik profile -- ./workers_ready 4; predict -- ./workers_ready {threads} */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { TASKS = 1000, MOST_THREADS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queued, ended;
static uint64_t sum;
static sem_t ready;

static void *serve(void *arg) {
    sem_post(&ready);
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (queued == 0 && !ended)
            pthread_cond_wait(&changed, &mutex);
        int task = queued > 0 ? queued-- : 0;
        pthread_mutex_unlock(&mutex);
        if (task == 0)
            return arg;
        uint64_t result = work((uint64_t)task, 1000);
        pthread_mutex_lock(&mutex);
        sum += result;
        pthread_mutex_unlock(&mutex);
    }
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    sem_init(&ready, 0, 0);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, serve, NULL);
    for (int i = 0; i < threads; i++)
        sem_wait(&ready);
    for (int i = 0; i < TASKS; i++) {
        pthread_mutex_lock(&mutex);
        queued++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    ended = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
