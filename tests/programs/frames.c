/* KIND: frames of 5 ms by an absolute clock: each gives jobs to a pool, and the loop sleeps until the next one is due
 * BUILD: gcc -g -O2 -pthread frames.c -o frames
 * RUN: persik profile -- ./frames 2; persik predict; real: -- ./frames {threads}
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

enum { FRAMES = 60, JOBS = 24, FRAME_NS = 5000000, SECOND_NS = 1000000000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, none = PTHREAD_COND_INITIALIZER;
static int queued, unfinished, quit;
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
        uint64_t value = work(job, 80 + job);
        pthread_mutex_lock(&lock);
        sum += value;
        if (--unfinished == 0)
            pthread_cond_signal(&none);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void draw_frame(void) {
    pthread_mutex_lock(&lock);
    queued = unfinished = JOBS;
    pthread_cond_broadcast(&some);
    while (unfinished > 0)
        pthread_cond_wait(&none, &lock);
    pthread_mutex_unlock(&lock);
}

static void wait_for_next(struct timespec *due) {
    due->tv_nsec += FRAME_NS;
    if (due->tv_nsec >= SECOND_NS) {
        due->tv_nsec -= SECOND_NS;
        due->tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, do_jobs, NULL);
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int frame = 0; frame < FRAMES; frame++) {
        draw_frame();
        wait_for_next(&due);
    }
    pthread_mutex_lock(&lock);
    quit = 1;
    pthread_cond_broadcast(&some);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    free(ids);
    printf("%lx\n", (unsigned long)sum);
    return 0;
}
