/* Threads that start each other: a worker that takes a block and finds more behind it starts the
 * next worker, as long as there may be more, and works on. Main waits for all. Usage: chain THREADS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 60, MOST_THREADS = 64 };

static pthread_mutex_t stream = PTHREAD_MUTEX_INITIALIZER;
static int next_block, started, limit;
static pthread_t threads[MOST_THREADS];
static unsigned long checksum;

static unsigned long compute(unsigned long value, int rounds) {
    for (int i = 0; i < rounds * 1000; i++)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    return value;
}

static void *compress(void *unused);

static void start_worker(void) {
    pthread_create(&threads[started++], NULL, compress, NULL);
}

static void *compress(void *unused) {
    for (;;) {
        pthread_mutex_lock(&stream);
        if (next_block == BLOCKS) {
            pthread_mutex_unlock(&stream);
            return unused;
        }
        next_block++;
        if (next_block < BLOCKS && started < limit)
            start_worker();
        unsigned long block = compute((unsigned long)next_block, 500);
        pthread_mutex_unlock(&stream);
        block = compute(block, 5000);
        __atomic_fetch_add(&checksum, block, __ATOMIC_RELAXED);
    }
}

int main(int argc, char **argv) {
    limit = argc > 1 ? atoi(argv[1]) : 1;
    if (limit < 1 || limit > MOST_THREADS)
        return 2;
    start_worker();
    for (int i = 0; i < limit; i++)
        pthread_join(threads[i], NULL); /* there are more blocks than threads */
    printf("%lx\n", checksum);
    return 0;
}
