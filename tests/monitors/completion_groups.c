/* Batches in flight side by side, each with its own count of blocks left: an array of completions.
 * Main writes a batch out when its last block is done, while the workers are in the next ones. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

#define PER_BATCH 12

struct batch {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    int left;
    uint64_t blocks[PER_BATCH];
};

static struct batch *batches;
static int n_batches;
static atomic_int next_block;

static void batch_block_done(struct batch *batch) {
    pthread_mutex_lock(&batch->lock);
    batch->left -= 1;
    if (batch->left == 0)
        pthread_cond_signal(&batch->ready);
    pthread_mutex_unlock(&batch->lock);
}

static void batch_wait(struct batch *batch) {
    pthread_mutex_lock(&batch->lock);
    while (batch->left > 0)
        pthread_cond_wait(&batch->ready, &batch->lock);
    pthread_mutex_unlock(&batch->lock);
}

static void *pack(void *unused) {
    for (;;) {
        int block = atomic_fetch_add(&next_block, 1);
        if (block >= n_batches * PER_BATCH)
            return unused;
        struct batch *batch = &batches[block / PER_BATCH];
        batch->blocks[block % PER_BATCH] = burn((uint64_t)block, 850);
        batch_block_done(batch);
    }
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    n_batches = scaled(options, 44);
    batches = calloc((size_t)n_batches, sizeof *batches);
    for (int i = 0; i < n_batches; i++) {
        pthread_mutex_init(&batches[i].lock, NULL);
        pthread_cond_init(&batches[i].ready, NULL);
        batches[i].left = PER_BATCH;
    }
    pthread_t packers[options.threads];
    for (int i = 0; i < options.threads; i++)
        pthread_create(&packers[i], NULL, pack, NULL);
    uint64_t file = 0;
    for (int i = 0; i < n_batches; i++) {
        batch_wait(&batches[i]);
        for (int j = 0; j < PER_BATCH; j++)
            file = burn(file ^ batches[i].blocks[j], 80);
    }
    for (int i = 0; i < options.threads; i++)
        pthread_join(packers[i], NULL);
    free(batches);
    print_result(file);
    return 0;
}
