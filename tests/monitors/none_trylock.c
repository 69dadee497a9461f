/* A busy flag by pthread_mutex_trylock: who finds the shared index busy keeps the entry in a list
 * of his own and adds the list later. Limits how many are inside, but nobody waits for it. */
#include <pthread.h>

#include "support.h"

#define LOCAL 16

static pthread_mutex_t index_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t index_sum;
static unsigned index_size;
static int threads, documents;

static void index_add(const uint64_t *entries, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        index_sum += entries[i];
    index_size += n;
}

static void *scan(void *argument) {
    uint64_t local[LOCAL];
    unsigned n = 0;
    for (int i = (int)(intptr_t)argument; i < documents; i += threads) {
        local[n++] = burn((uint64_t)i, 420);
        if (pthread_mutex_trylock(&index_mutex) == 0) {
            index_add(local, n);
            n = 0;
            pthread_mutex_unlock(&index_mutex);
        } else if (n == LOCAL) {
            pthread_mutex_lock(&index_mutex);
            index_add(local, n);
            n = 0;
            pthread_mutex_unlock(&index_mutex);
        }
    }
    pthread_mutex_lock(&index_mutex);
    index_add(local, n);
    pthread_mutex_unlock(&index_mutex);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    documents = scaled(options, 1200);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, scan, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    print_result(index_sum + index_size);
    return 0;
}
