/* Rounds at a barrier that is made of two atomic variables and a futex; in between, one thread does
 * a part for all.
 * BUILD: gcc -g -O2 -pthread futex_rounds.c -o futex_rounds
 * Usage: futex_rounds THREADS [ROUNDS] */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

enum { MOST_THREADS = 64, CELLS = 60, OF_A_CELL = 40, FOR_ALL = 500 };

static atomic_int arrived, phase;
static int n_threads, n_rounds;
static atomic_ulong sum;

static void meet(void) {
    int before = atomic_load(&phase);
    if (atomic_fetch_add(&arrived, 1) == n_threads - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&phase, 1);
        syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
        return;
    }
    while (atomic_load(&phase) == before)
        syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
}

static void *run(void *number) {
    int t = (int)(long)number;
    unsigned long mine = 0;
    for (int round = 0; round < n_rounds; round++) {
        for (int cell = CELLS * t / n_threads; cell < CELLS * (t + 1) / n_threads; cell++)
            mine += work((unsigned long)(cell + round), OF_A_CELL);
        meet();
        if (t == 0)
            mine += work((unsigned long)round, FOR_ALL);
        meet();
    }
    atomic_fetch_add(&sum, mine);
    return NULL;
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? atoi(argv[1]) : 2;
    n_rounds = argc > 2 ? atoi(argv[2]) : 150;
    if (n_threads < 1 || n_threads > MOST_THREADS)
        return 2;
    pthread_t threads[MOST_THREADS];
    for (long t = 0; t < n_threads; t++)
        pthread_create(&threads[t], NULL, run, (void *)t);
    for (int t = 0; t < n_threads; t++)
        pthread_join(threads[t], NULL);
    printf("%lx\n", atomic_load(&sum));
    return 0;
}
