/* KIND: a ticker waits for a condition that nobody signals until the next tick is due, and gives jobs to a pool at each
 * BUILD: gcc -g -O2 -pthread ticks.c -o ticks
 * RUN: persik profile -- ./ticks 2; persik predict; real: -- ./ticks {threads}
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

enum { TICKS = 60, JOBS = 12, TICK_NS = 5000000, SECOND_NS = 1000000000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int queued, quit;
static uint64_t sum;

static void *do_jobs(void *unused) {
    pthread_mutex_lock(&lock);
    while (1) {
        while (queued == 0 && !quit)
            pthread_cond_wait(&some, &lock);
        if (queued == 0)
            break;
        unsigned job = (unsigned)queued--;
        pthread_mutex_unlock(&lock);
        uint64_t value = work(job, 400 + job);
        pthread_mutex_lock(&lock);
        sum += value;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *tick(void *unused) {
    struct timespec due;
    clock_gettime(CLOCK_REALTIME, &due);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < TICKS; i++) {
        due.tv_nsec += TICK_NS;
        if (due.tv_nsec >= SECOND_NS) {
            due.tv_nsec -= SECOND_NS;
            due.tv_sec++;
        }
        while (pthread_cond_timedwait(&never, &lock, &due) != ETIMEDOUT) {
        }
        queued += JOBS;
        pthread_cond_broadcast(&some);
    }
    quit = 1;
    pthread_cond_broadcast(&some);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t threads[64], ticker;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, do_jobs, NULL);
    pthread_create(&ticker, NULL, tick, NULL);
    pthread_join(ticker, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
