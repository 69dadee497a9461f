/* The rows of a triangle, an equal number for each thread: the last threads have most to do. First
 * all of them in steps, with a barrier after each; then in shares with a lock around each row's
 * result.
 * Usage: triangle THREADS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS        960L
#define STEPS       6
#define MAX_THREADS 64

static long n_threads;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned sums[ROWS], total;

static unsigned compute(unsigned value, long length) {
    for (long i = 0; i < length; i++)
        value = value * 1664525U + 1013904223U;
    return value;
}

static void *walk(void *argument) {
    long id = (long)argument;
    long first = ROWS * id / n_threads, last = ROWS * (id + 1) / n_threads;
    for (int step = 0; step < STEPS; step++) {
        for (long row = first; row < last; row++)
            sums[row] += compute((unsigned)row, 100 * row);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *add_up(void *argument) {
    long id = (long)argument;
    long first = ROWS * id / n_threads, last = ROWS * (id + 1) / n_threads;
    for (long row = first; row < last; row++) {
        unsigned sum = compute(sums[row], 600 * row);
        pthread_mutex_lock(&lock);
        total += sum;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void run(void *(*routine)(void *)) {
    pthread_t threads[MAX_THREADS];
    for (long id = 0; id < n_threads; id++)
        pthread_create(&threads[id], NULL, routine, (void *)id);
    for (long id = 0; id < n_threads; id++)
        pthread_join(threads[id], NULL);
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        return 2;
    pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
    run(walk);
    run(add_up);
    printf("%u\n", total);
    return 0;
}
