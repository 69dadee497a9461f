/* A budget of twelve units, of which a job takes one, two or five at once: broadcast, because the
 * waiters want different amounts. */
#include <pthread.h>

#include "support.h"

struct budget {
    pthread_mutex_t mutex;
    pthread_cond_t released;
    unsigned available;
};

static void budget_acquire(struct budget *b, unsigned units) {
    pthread_mutex_lock(&b->mutex);
    while (b->available < units)
        pthread_cond_wait(&b->released, &b->mutex);
    b->available -= units;
    pthread_mutex_unlock(&b->mutex);
}

static void budget_release(struct budget *b, unsigned units) {
    pthread_mutex_lock(&b->mutex);
    b->available += units;
    pthread_cond_broadcast(&b->released);
    pthread_mutex_unlock(&b->mutex);
}

static struct budget memory = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 12};
static int threads, blocks;

static void *sort_blocks(void *argument) {
    static const unsigned need[] = {1, 2, 5};
    uint64_t *sum = argument;
    int me = (int)*sum;
    *sum = 0;
    for (int i = me; i < blocks; i += threads) {
        unsigned units = need[i / threads % 3];
        budget_acquire(&memory, units);
        *sum += burn((uint64_t)i, 1300);
        budget_release(&memory, units);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    blocks = scaled(options, 420);
    pthread_t ids[threads];
    uint64_t sums[threads], sum = 0;
    for (int i = 0; i < threads; i++) {
        sums[i] = (uint64_t)i;
        pthread_create(&ids[i], NULL, sort_blocks, &sums[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += sums[i];
    }
    print_result(sum);
    return 0;
}
