/* KIND: work from a timer's descriptor, handed out by a thread that reads it
 * BUILD: gcc -g -O2 -pthread timer_feeder.c -o timer_feeder
 * RUN: persik profile -- ./timer_feeder 2; predict -- ./timer_feeder {threads} */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "work.h"

enum { JOBS = 400, EVERY_NS = 2500000, MOST_THREADS = 64 };

static sem_t jobs;
static atomic_int taken;
static atomic_ullong sum;

static void *work_off(void *arg) {
    (void)arg;
    while (atomic_fetch_add(&taken, 1) < JOBS) {
        sem_wait(&jobs);
        atomic_fetch_add(&sum, work(7, 400) & 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    struct itimerspec every = {{0, EVERY_NS}, {0, EVERY_NS}};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    sem_init(&jobs, 0, 0);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work_off, NULL);
    timerfd_settime(timer, 0, &every, NULL);
    for (int given = 0; given < JOBS;) {
        uint64_t ticks;
        if (read(timer, &ticks, sizeof ticks) != sizeof ticks)
            return 1;
        for (; ticks > 0 && given < JOBS; ticks--, given++)
            sem_post(&jobs);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
