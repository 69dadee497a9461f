/* Reference counts: the last one to let go frees the object. Counts down to zero like a latch, but
 * nobody waits for zero. */
#include <pthread.h>

#include "support.h"

struct blob {
    pthread_mutex_t mutex;
    int references;
    uint64_t content;
};

static struct blob **blobs;
static int threads, n_blobs;

static struct blob *blob_new(uint64_t content, int references) {
    struct blob *b = malloc(sizeof *b);
    pthread_mutex_init(&b->mutex, NULL);
    b->references = references;
    b->content = content;
    return b;
}

static void blob_unref(struct blob *b) {
    pthread_mutex_lock(&b->mutex);
    int left = --b->references;
    pthread_mutex_unlock(&b->mutex);
    if (left == 0) {
        pthread_mutex_destroy(&b->mutex);
        free(b);
    }
}

struct reader {
    pthread_t thread;
    int number;
    uint64_t sum;
};

static void *read_all(void *argument) {
    struct reader *r = argument;
    for (int i = 0; i < n_blobs; i++) {
        if (i % threads == r->number)
            r->sum += burn(blobs[i]->content, 900);
        blob_unref(blobs[i]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    n_blobs = scaled(options, 560);
    blobs = calloc((size_t)n_blobs, sizeof(struct blob *));
    for (int i = 0; i < n_blobs; i++)
        blobs[i] = blob_new((uint64_t)i, threads);
    struct reader *readers = calloc((size_t)threads, sizeof *readers);
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) {
        readers[i].number = i;
        pthread_create(&readers[i].thread, NULL, read_all, &readers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(readers[i].thread, NULL);
        sum += readers[i].sum;
    }
    free(readers);
    free(blobs);
    print_result(sum);
    return 0;
}
