/* Locks and unlocks a free mutex, `pairs` times, four calls deep, and prints the nanoseconds of CPU
 * that a pair took, kernel time included (other load would count in wall time), and what the two
 * time stamps of a pair take by themselves. Run bare and under the probe library by probe-cost.sh. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "processor/x86_64/probe/clock.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long counter;
static volatile uint64_t stamp;

__attribute__((noinline)) static void add(void) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void add_through_library(long pairs) {
    for (long i = 0; i < pairs; i++)
        add();
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A free lock's time stamp is taken after it, an unlock's before. */
static void stamp_only(long pairs) {
    for (long i = 0; i < pairs; i++) {
        stamp = clock_after();
        stamp = clock_before();
    }
}

static void *run(void *argument) {
    long pairs = *(long *)argument;
    double start_ns = cpu_ns();
    add_through_library(pairs);
    double end_ns = cpu_ns();
    stamp_only(pairs);
    printf("%.3f %.3f\n", (end_ns - start_ns) / (double)pairs, (cpu_ns() - end_ns) / (double)pairs);
    return NULL;
}

int main(int argc, char **argv) {
    long pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    pthread_t thread; /* with one thread alone libc may lock more cheaply */
    if (pthread_create(&thread, NULL, run, &pairs) != 0)
        return 1;
    pthread_join(thread, NULL);
    return counter == pairs ? 0 : 1;
}
