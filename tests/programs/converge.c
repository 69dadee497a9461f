/* Threads that go round together until a result is good enough, for one problem after the other: how
 * often differs, but is the same for all of them. They meet at a barrier, made by hand, that looks
 * for a while before it sleeps.
 * Usage: converge THREADS */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK        8000000L
#define MAX_THREADS 64
#define LOOKS       200

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long parties, arrived;
    unsigned turn;
};

static struct barrier barrier = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};
static long n_threads;
static unsigned sums[MAX_THREADS];
static const int rounds[] = {3, 11, 7, 25, 2, 16, 9, 30, 5, 12};
static int n_made;
static bool done;

static unsigned compute(unsigned value, long length) {
    for (long i = 0; i < length; i++)
        value = value * 1664525U + 1013904223U;
    return value;
}

static void meet(void) {
    pthread_mutex_lock(&barrier.lock);
    unsigned turn = barrier.turn;
    if (++barrier.arrived == barrier.parties) {
        barrier.arrived = 0;
        __atomic_store_n(&barrier.turn, turn + 1, __ATOMIC_RELEASE);
        pthread_cond_broadcast(&barrier.changed);
        pthread_mutex_unlock(&barrier.lock);
        return;
    }
    pthread_mutex_unlock(&barrier.lock);
    for (int i = 0; i < LOOKS; i++)
        if (__atomic_load_n(&barrier.turn, __ATOMIC_ACQUIRE) != turn)
            break;
    pthread_mutex_lock(&barrier.lock);
    while (barrier.turn == turn)
        pthread_cond_wait(&barrier.changed, &barrier.lock);
    pthread_mutex_unlock(&barrier.lock);
}

static void *solve(void *argument) {
    long id = (long)argument;
    for (size_t problem = 0; problem < sizeof rounds / sizeof *rounds; problem++) {
        sums[id] = compute(sums[id], WORK / 2 / n_threads);
        meet();
        for (;;) {
            sums[id] += compute(sums[id], WORK / n_threads);
            meet();
            if (id == 0) {
                done = ++n_made == rounds[problem];
                n_made = done ? 0 : n_made;
            }
            meet();
            if (done)
                break;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        return 2;
    barrier.parties = n_threads;
    pthread_t threads[MAX_THREADS];
    for (long id = 0; id < n_threads; id++)
        pthread_create(&threads[id], NULL, solve, (void *)id);
    for (long id = 0; id < n_threads; id++)
        pthread_join(threads[id], NULL);
    printf("%u\n", sums[0]);
    return 0;
}
