/* Rounds of blocks: main announces how many are outstanding and waits for zero. Blocks are dealt by
 * an atomic counter; what is made by hand is the wait for the last one. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int outstanding;

static sem_t available; /* of the library: one post for every block, and one to stop a worker */
static atomic_uint next_block;
static atomic_bool stop;
static uint64_t results[64];

static void block_done(void) {
    pthread_mutex_lock(&mu);
    if (--outstanding == 0)
        pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&mu);
}

static void wait_for_blocks(void) {
    pthread_mutex_lock(&mu);
    while (outstanding != 0)
        pthread_cond_wait(&all_done, &mu);
    pthread_mutex_unlock(&mu);
}

static void *block_worker(void *unused) {
    for (;;) {
        sem_wait(&available);
        if (atomic_load(&stop))
            return unused;
        unsigned block = atomic_fetch_add(&next_block, 1);
        results[block % 64] += burn(block, 700);
        block_done();
    }
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    sem_init(&available, 0, 0);
    pthread_t workers[options.threads];
    for (int i = 0; i < options.threads; i++)
        pthread_create(&workers[i], NULL, block_worker, NULL);
    uint64_t sum = 0;
    for (int round = 0; round < scaled(options, 20); round++) {
        sum += burn((uint64_t)round, 1000);
        pthread_mutex_lock(&mu);
        outstanding += 32;
        pthread_mutex_unlock(&mu);
        for (int i = 0; i < 32; i++)
            sem_post(&available);
        wait_for_blocks();
    }
    atomic_store(&stop, true);
    for (int i = 0; i < options.threads; i++)
        sem_post(&available);
    for (int i = 0; i < options.threads; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < 64; i++)
        sum += results[i];
    sem_destroy(&available);
    print_result(sum);
    return 0;
}
