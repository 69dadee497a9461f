/* what_if_cases ACT NUMBER...: programs that compute, whose parts follow from a few numbers, in
 * microseconds, for bench/what-if.sh.
 *
 * - hot OUTSIDE HELD ROUNDS THREADS: each thread computes outside, then with one mutex.
 * - parts A B C ROUNDS: three threads sleep so long, then meet. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 64, PARTS = 3 };

static double outside_us, held_us;
static long rounds, n_threads, parts_us[PARTS];
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

static void sleep_for(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void *first(void *argument) {
    for (long i = 0; i < rounds; i++) {
        sleep_for(parts_us[0]);
        pthread_barrier_wait(&meeting);
    }
    return argument;
}

static void *second(void *argument) {
    for (long i = 0; i < rounds; i++) {
        sleep_for(parts_us[1]);
        pthread_barrier_wait(&meeting);
    }
    return argument;
}

static void *third(void *argument) {
    for (long i = 0; i < rounds; i++) {
        sleep_for(parts_us[2]);
        pthread_barrier_wait(&meeting);
    }
    return argument;
}

static void run_parts(void) {
    void *(*const routines[PARTS])(void *) = {first, second, third};
    pthread_t threads[PARTS];
    pthread_barrier_init(&meeting, NULL, PARTS);
    for (int i = 0; i < PARTS; i++)
        pthread_create(&threads[i], NULL, routines[i], NULL);
    for (int i = 0; i < PARTS; i++)
        pthread_join(threads[i], NULL);
}

static void run(void *(*routine)(void *)) {
    pthread_t threads[THREADS];
    long count = n_threads < THREADS ? n_threads : THREADS;
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
    if (argc == 6 && strcmp(argv[1], "parts") == 0) {
        for (int i = 0; i < PARTS; i++)
            parts_us[i] = strtol(argv[2 + i], NULL, 10);
        rounds = strtol(argv[5], NULL, 10);
        run_parts();
        return 0;
    }
    fprintf(stderr, "usage: what_if_cases hot OUTSIDE HELD ROUNDS THREADS\n"
                    "       what_if_cases parts FIRST SECOND THIRD ROUNDS\n");
    return 2;
}
