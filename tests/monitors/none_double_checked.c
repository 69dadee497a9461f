/* Double-checked initialisation: an atomic flag, and a mutex held while the first one initialises.
 * Who comes second waits for the mutex, not for a flag. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support.h"

static pthread_mutex_t init_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool initialised;
static uint64_t crc_table[64];
static int threads, blocks;

static void ensure_initialised(void) {
    if (atomic_load_explicit(&initialised, memory_order_acquire))
        return;
    pthread_mutex_lock(&init_mutex);
    if (!atomic_load_explicit(&initialised, memory_order_relaxed)) {
        for (unsigned i = 0; i < 64; i++)
            crc_table[i] = burn(i, 700);
        atomic_store_explicit(&initialised, true, memory_order_release);
    }
    pthread_mutex_unlock(&init_mutex);
}

static void *checksum_blocks(void *argument) {
    uint64_t sum = 0;
    for (int i = (int)(intptr_t)argument; i < blocks; i += threads) {
        ensure_initialised();
        sum += burn(crc_table[i % 64], 600);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    blocks = scaled(options, 760);
    pthread_t ids[threads];
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, checksum_blocks, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++) {
        void *part;
        pthread_join(ids[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    print_result(sum);
    return 0;
}
