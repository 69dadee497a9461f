/* Threads that are created anew in every step: all but one, whose part main does itself. All of them
 * meet half-way at a barrier, which is made anew, too.
 * Usage: steps THREADS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS       12
#define ITEMS       12000000L
#define MAX_THREADS 64

static pthread_barrier_t half_way;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static long n_threads;
static unsigned sum;

static unsigned compute(long from, long to) {
    unsigned x = (unsigned)from;
    for (long i = from; i < to; i++)
        x = x * 1664525U + 1013904223U;
    return x;
}

static void add(unsigned x) {
    pthread_mutex_lock(&sum_lock);
    sum += x;
    pthread_mutex_unlock(&sum_lock);
}

static void *work(void *argument) {
    long me = (long)(intptr_t)argument;
    long from = ITEMS * me / n_threads, to = ITEMS * (me + 1) / n_threads;
    add(compute(from, to));
    pthread_barrier_wait(&half_way);
    add(compute(from, to));
    return NULL;
}

static void step(void) {
    pthread_t threads[MAX_THREADS];
    pthread_barrier_init(&half_way, NULL, (unsigned)n_threads);
    for (long i = 1; i < n_threads; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    work(NULL);
    for (long i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&half_way);
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        return 1;
    for (int i = 0; i < STEPS; i++)
        step();
    printf("%u\n", sum);
    return 0;
}
