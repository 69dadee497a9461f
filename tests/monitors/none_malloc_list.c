/* A free list that makes a new buffer when it is empty: a cache of memory, nobody waits for a
 * buffer. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

typedef struct cached_buffer {
    struct cached_buffer *next;
    uint64_t data[128];
} cached_buffer;

static struct {
    pthread_mutex_t mu;
    cached_buffer *free;
    int n_free, n_made;
} cache = {.mu = PTHREAD_MUTEX_INITIALIZER};

static cached_buffer *buffer_acquire(void) {
    pthread_mutex_lock(&cache.mu);
    cached_buffer *b = cache.free;
    if (b != NULL) {
        cache.free = b->next;
        cache.n_free--;
    } else {
        cache.n_made++;
    }
    pthread_mutex_unlock(&cache.mu);
    return b != NULL ? b : calloc(1, sizeof *b);
}

static void buffer_release(cached_buffer *b) {
    pthread_mutex_lock(&cache.mu);
    b->next = cache.free;
    cache.free = b;
    cache.n_free++;
    pthread_mutex_unlock(&cache.mu);
}

static atomic_int next_tile;
static int tiles;

static void *filter(void *argument) {
    uint64_t *sum = argument;
    for (int tile; (tile = atomic_fetch_add(&next_tile, 1)) < tiles;) {
        cached_buffer *b = buffer_acquire();
        b->data[tile % 128] = (uint64_t)tile;
        *sum += burn(b->data[tile % 128], 700);
        buffer_release(b);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[options.threads];
    uint64_t sums[options.threads], sum = 0;
    memset(sums, 0, sizeof sums);
    tiles = scaled(options, 680);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, filter, &sums[i]);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    for (cached_buffer *b; (b = cache.free) != NULL; free(b))
        cache.free = b->next;
    print_result(sum);
    return 0;
}
