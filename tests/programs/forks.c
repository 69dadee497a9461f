/* A pool as computing programs have it: main opens a round by a generation number that each worker
 * compares with its own, does the first part itself, and waits until the others have done theirs.
 * With -DTAKEN there are no parts: all take items from a counter until none is left.
 * Usage: forks THREADS */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS      40
#define ITEMS       9000000L
#define MAX_THREADS 64

static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened, done;
    int generation, pending;
    bool over;
} rounds = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .opened = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};
static int n_threads;
static unsigned results[MAX_THREADS];

static unsigned compute(long from, long to) {
    unsigned x = (unsigned)from;
    for (long i = from; i < to; i++)
        x = x * 1664525U + 1013904223U;
    return x;
}

#ifdef TAKEN
#define TAKES 300
static atomic_long next;

static void compute_part(long id) {
    long item;
    while ((item = atomic_fetch_add(&next, 1)) < TAKES)
        results[id] += compute(ITEMS / TAKES * item, ITEMS / TAKES * (item + 1));
}
#else
static void compute_part(long id) {
    results[id] += compute(ITEMS * id / n_threads, ITEMS * (id + 1) / n_threads);
}
#endif

static void *serve(void *argument) {
    int seen = 0;
    for (;;) {
        pthread_mutex_lock(&rounds.lock);
        while (rounds.generation == seen && !rounds.over)
            pthread_cond_wait(&rounds.opened, &rounds.lock);
        seen = rounds.generation;
        bool over = rounds.over;
        pthread_mutex_unlock(&rounds.lock);
        if (over)
            return NULL;
        compute_part((long)argument);
        pthread_mutex_lock(&rounds.lock);
        if (--rounds.pending == 0)
            pthread_cond_signal(&rounds.done);
        pthread_mutex_unlock(&rounds.lock);
    }
}

static void run_round(void) {
    pthread_mutex_lock(&rounds.lock);
    rounds.generation++;
#ifdef TAKEN
    next = 0;
#endif
    rounds.pending = n_threads - 1;
    pthread_cond_broadcast(&rounds.opened);
    pthread_mutex_unlock(&rounds.lock);
    compute_part(0);
    pthread_mutex_lock(&rounds.lock);
    while (rounds.pending > 0)
        pthread_cond_wait(&rounds.done, &rounds.lock);
    pthread_mutex_unlock(&rounds.lock);
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t threads[MAX_THREADS];
    for (int i = 1; i < n_threads; i++)
        pthread_create(&threads[i], NULL, serve, (void *)(long)i);
    for (int round = 0; round < ROUNDS; round++)
        run_round();
    pthread_mutex_lock(&rounds.lock);
    rounds.over = true;
    pthread_cond_broadcast(&rounds.opened);
    pthread_mutex_unlock(&rounds.lock);
    for (int i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    unsigned sum = 0;
    for (int i = 0; i < n_threads; i++)
        sum += results[i];
    printf("%u\n", sum);
}
