/* Threads that compress a stream: each round begins at a gate, which main opens once; then, under
 * the stream's lock, a thread reads the next block or finds that none is left, and leaves. Neither
 * place has a count of rounds: the gate's lock is the first that each round comes to, the stream's
 * tells whether there is another. Usage: gated THREADS */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 60, MOST_THREADS = 64 };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool open;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t stream = PTHREAD_MUTEX_INITIALIZER;
static int next_block;
static unsigned long checksum;

static unsigned long compute(unsigned long value, int rounds) {
    for (int i = 0; i < rounds * 1000; i++)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    return value;
}

static void pass_gate(void) {
    pthread_mutex_lock(&gate.mutex);
    while (!gate.open)
        pthread_cond_wait(&gate.opened, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static void *compress(void *unused) {
    for (;;) {
        pass_gate();
        pthread_mutex_lock(&stream);
        if (next_block == BLOCKS) {
            pthread_mutex_unlock(&stream);
            return unused;
        }
        next_block++;
        unsigned long block = compute((unsigned long)next_block, 500);
        pthread_mutex_unlock(&stream);
        block = compute(block, 5000);
        __atomic_fetch_add(&checksum, block, __ATOMIC_RELAXED);
    }
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t started[MOST_THREADS];
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    for (int i = 0; i < threads; i++)
        pthread_create(&started[i], NULL, compress, NULL);
    pthread_mutex_lock(&gate.mutex);
    gate.open = true;
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.mutex);
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    printf("%lx\n", checksum);
    return 0;
}
