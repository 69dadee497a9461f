/* what_if_cases ACT NUMBER...: programs that compute, whose parts follow from a few numbers, in
 * microseconds, for bench/what-if.sh.
 *
 * - hot OUTSIDE HELD ROUNDS THREADS: each thread computes outside, then with one mutex.
 * - slow FACTOR A B ROUNDS THREADS: each computes A in one function and B in another one, and meets
 *   the others at a barrier; the first goes on until it has taken FACTOR times as long, so that it
 *   is slower by that, and caches are as they were. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 64 };

static double outside_us, held_us, factor, first_us, second_us;
static long rounds, n_threads;
static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meeting;

static double cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void compute(double us) {
    double end_us = cpu_us() + us;
    while (us > 0 && cpu_us() < end_us)
        ;
}

static void outside(void) {
    compute(outside_us);
}

static void *use_lock(void *argument) {
    for (long i = 0; i < rounds; i++) {
        outside();
        pthread_mutex_lock(&hot); /* hot */
        compute(held_us);
        pthread_mutex_unlock(&hot);
    }
    return argument;
}

static __attribute__((noinline)) void first(void) {
    double began_us = cpu_us();
    compute(first_us);
    compute((factor - 1) * (cpu_us() - began_us));
    pthread_mutex_lock(&hot); /* a call, so that the time has a place */
    pthread_mutex_unlock(&hot);
}

static __attribute__((noinline)) void second(void) {
    compute(second_us);
    pthread_barrier_wait(&meeting);
}

static void *work(void *argument) {
    for (long i = 0; i < rounds; i++) {
        first();
        second();
    }
    return argument;
}

static void run(void *(*routine)(void *)) {
    pthread_t threads[THREADS];
    long count = n_threads < THREADS ? n_threads : THREADS;
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, routine, NULL);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "hot") == 0) {
        outside_us = strtod(argv[2], NULL);
        held_us = strtod(argv[3], NULL);
        rounds = strtol(argv[4], NULL, 10);
        n_threads = strtol(argv[5], NULL, 10);
        run(use_lock);
        return 0;
    }
    if (argc == 7 && strcmp(argv[1], "slow") == 0) {
        factor = strtod(argv[2], NULL);
        first_us = strtod(argv[3], NULL);
        second_us = strtod(argv[4], NULL);
        rounds = strtol(argv[5], NULL, 10);
        n_threads = strtol(argv[6], NULL, 10);
        run(work);
        return 0;
    }
    fprintf(stderr, "usage: what_if_cases hot OUTSIDE HELD ROUNDS THREADS\n"
                    "       what_if_cases slow FACTOR FIRST SECOND ROUNDS THREADS\n");
    return 2;
}
