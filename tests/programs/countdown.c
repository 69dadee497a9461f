/* Rounds of work: main hands out pieces and waits on a semaphore, which the worker releases who has
 * done the last piece of the round, as told by a count: under a lock, or with a second argument an
 * atomic one. Usage: countdown THREADS [atomic] */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 40, PIECES = 7, MOST_THREADS = 64 };

static sem_t work, done;
static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static int left;
static bool is_atomic, ended;
static unsigned long checksum;

static unsigned long compute(unsigned long value, int rounds) {
    for (int i = 0; i < rounds * 1000; i++)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    return value;
}

static bool is_last(void) {
    if (is_atomic)
        return __atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL) == 0;
    pthread_mutex_lock(&counter);
    bool last = --left == 0;
    pthread_mutex_unlock(&counter);
    return last;
}

static void *carry_out(void *unused) {
    for (;;) {
        sem_wait(&work);
        if (ended)
            return unused;
        __atomic_fetch_add(&checksum, compute(3, 1200), __ATOMIC_RELAXED);
        if (is_last())
            sem_post(&done);
    }
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t started[MOST_THREADS];
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    is_atomic = argc > 2;
    sem_init(&work, 0, 0);
    sem_init(&done, 0, 0);
    for (int i = 0; i < threads; i++)
        pthread_create(&started[i], NULL, carry_out, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        checksum += compute((unsigned long)i, 600); /* alone */
        __atomic_store_n(&left, PIECES, __ATOMIC_RELEASE);
        for (int piece = 0; piece < PIECES; piece++)
            sem_post(&work);
        sem_wait(&done);
    }
    ended = true;
    for (int i = 0; i < threads; i++)
        sem_post(&work);
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    printf("%lx\n", checksum);
    return 0;
}
