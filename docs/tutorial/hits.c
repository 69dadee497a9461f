/* Threads count hits in a shared table, under a lock of the program's own that spins. usage: hits THREADS */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20000 };

static atomic_flag table_lock = ATOMIC_FLAG_INIT;
static atomic_int rounds;
static double table;

__attribute__((noipa)) static void spin_lock(atomic_flag *lock) {
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        ;
}

__attribute__((noipa)) static void spin_unlock(atomic_flag *lock) {
    atomic_flag_clear_explicit(lock, memory_order_release);
}

static double compute(int steps, double value) {
    for (int i = 0; i < steps; i++)
        value = value * 0.999 + 1;
    return value;
}

static void *count(void *unused) {
    while (atomic_fetch_add(&rounds, 1) < ROUNDS) {
        double value = compute(10000, 1);
        spin_lock(&table_lock);
        table += compute(20000, value);
        spin_unlock(&table_lock);
    }
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, count, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%.0f\n", table);
    return 0;
}
