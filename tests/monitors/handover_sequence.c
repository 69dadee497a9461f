/* An ordered writer: blocks are compressed in any order, written in theirs. A worker waits until
 * the number written last is the one before its own. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t write_turn = PTHREAD_COND_INITIALIZER;
static long write_next;
static uint64_t written;

static void write_in_order(long sequence, uint64_t data) {
    pthread_mutex_lock(&write_lock);
    while (write_next != sequence)
        pthread_cond_wait(&write_turn, &write_lock);
    pthread_mutex_unlock(&write_lock);

    written = burn(written ^ data, 120); /* the turn is ours: no lock needed */

    pthread_mutex_lock(&write_lock);
    write_next++;
    pthread_cond_broadcast(&write_turn);
    pthread_mutex_unlock(&write_lock);
}

static atomic_long next_block;
static long blocks;

static void *compress_blocks(void *unused) {
    (void)unused;
    for (;;) {
        long block = atomic_fetch_add(&next_block, 1);
        if (block >= blocks)
            break;
        write_in_order(block, burn((uint64_t)block, 800 + (unsigned)(block * 7 % 5) * 200));
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    blocks = scaled(options, 380);
    pthread_t *ids = malloc((size_t)options.threads * sizeof *ids);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&ids[i], NULL, compress_blocks, NULL);
    for (int i = 0; i < options.threads; i++)
        pthread_join(ids[i], NULL);
    free(ids);
    print_result(written);
    return 0;
}
