/* What all threads may have allocated at once, in bytes: who decodes a block waits until its buffer
 * fits under the limit. Counts up what is in use. */
#include <pthread.h>

#include "support.h"

#define KIB ((size_t)1024)

typedef struct mem_limit_s {
    size_t in_use, max;
    pthread_mutex_t lock;
    pthread_cond_t freed;
} mem_limit;

static mem_limit *mem_limit_new(size_t max) {
    mem_limit *mem = malloc(sizeof(*mem));
    if (!mem)
        abort();
    mem->in_use = 0;
    mem->max = max;
    pthread_mutex_init(&mem->lock, NULL);
    pthread_cond_init(&mem->freed, NULL);
    return mem;
}

static void *mem_alloc(mem_limit *mem, size_t size) {
    pthread_mutex_lock(&mem->lock);
    while (mem->in_use + size > mem->max)
        pthread_cond_wait(&mem->freed, &mem->lock);
    mem->in_use += size;
    pthread_mutex_unlock(&mem->lock);
    return malloc(size);
}

static void mem_free(mem_limit *mem, void *buffer, size_t size) {
    free(buffer);
    pthread_mutex_lock(&mem->lock);
    mem->in_use -= size;
    pthread_mutex_unlock(&mem->lock);
    pthread_cond_broadcast(&mem->freed);
}

struct decoder {
    pthread_t handle;
    mem_limit *mem;
    int first, step, n_blocks;
    uint64_t sum;
};

static size_t block_size(int block) {
    return (size_t)(block % 7 == 3 ? 90 : 10 + block * 13 % 31) * KIB;
}

static void *decode(void *arg) {
    struct decoder *dec = arg;

    for (int i = dec->first; i < dec->n_blocks; i += dec->step) {
        size_t size = block_size(i);
        unsigned char *buffer = mem_alloc(dec->mem, size);
        if (!buffer)
            abort();
        memset(buffer, i, size);
        dec->sum += burn((uint64_t)i, 900) ^ buffer[size / 2];
        mem_free(dec->mem, buffer, size);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    struct decoder *decoders = calloc((size_t)n, sizeof(*decoders));
    mem_limit *mem = mem_limit_new(128 * KIB);
    uint64_t sum = 0;

    if (!decoders)
        return 1;
    for (int i = 0; i < n; i++) {
        decoders[i] =
            (struct decoder){.mem = mem, .first = i, .step = n, .n_blocks = scaled(options, 600)};
        pthread_create(&decoders[i].handle, NULL, decode, &decoders[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(decoders[i].handle, NULL);
        sum += decoders[i].sum;
    }
    free(mem);
    free(decoders);
    print_result(sum);
    return 0;
}
