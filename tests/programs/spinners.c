/* Waiting without any call: spinners KIND THREADS ROUNDS.
 *   barrier  rounds of computing that end at a spinning barrier
 *   lock     a counter behind a lock made of an atomic flag
 *   permits  main gives permits, one after some computing, which the threads poll for
 *   flag     helpers start when main, which computes first, sets a plain flag; nothing to name */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_threads, n_rounds;
static const char *kind;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic unsigned arrived, generation;
static _Atomic bool ready;
static _Atomic int permits;
static long counter;

__attribute__((noinline)) static void compute(int amount) {
    volatile double x = 0;
    for (int i = 0; i < amount; i++)
        x = x + 1.0 / (i + 1);
}

__attribute__((noipa)) void spin_barrier(int parties) {
    unsigned mine = atomic_load(&generation);
    if (atomic_fetch_add(&arrived, 1) + 1 == (unsigned)parties) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&generation, 1);
        return;
    }
    while (atomic_load(&generation) == mine)
        __builtin_ia32_pause();
}

__attribute__((noipa)) void spin_lock(atomic_flag *lock) {
    while (atomic_flag_test_and_set(lock))
        __builtin_ia32_pause();
}

__attribute__((noipa)) void spin_unlock(atomic_flag *lock) {
    atomic_flag_clear(lock);
}

__attribute__((noipa)) bool try_permit(void) {
    int left = atomic_load(&permits);
    return left > 0 && atomic_compare_exchange_strong(&permits, &left, left - 1);
}

__attribute__((noipa)) void give_permit(void) {
    atomic_fetch_add(&permits, 1);
}

static void *run(void *unused) {
    (void)unused;
    if (*kind == 'f')
        while (!atomic_load(&ready))
            __builtin_ia32_pause();
    for (int i = 0; i < n_rounds; i++) {
        while (*kind == 'p' && !try_permit())
            __builtin_ia32_pause();
        compute(*kind == 'l' ? 20000 : 100000);
        if (*kind == 'b')
            spin_barrier(n_threads);
        if (*kind != 'l')
            continue;
        spin_lock(&flag);
        counter++;
        compute(20000);
        spin_unlock(&flag);
    }
    return NULL;
}

int main(int argc, char **argv) {
    kind = argc > 1 ? argv[1] : "barrier";
    n_threads = argc > 2 ? atoi(argv[2]) : 2;
    n_rounds = argc > 3 ? atoi(argv[3]) : 100;
    pthread_t *threads = calloc((size_t)n_threads, sizeof *threads);
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    if (*kind == 'f') {
        compute(200 * 1000 * 1000);
        atomic_store(&ready, true);
    }
    for (int i = 0; *kind == 'p' && i < n_threads * n_rounds; i++) {
        compute(100000);
        give_permit();
    }
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", counter);
    free(threads);
    return 0;
}
