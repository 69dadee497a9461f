/* Numbers of free surfaces on a stack; a thread takes the topmost or waits for one. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

#define SURFACES 3

static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int stack[SURFACES];
    int top;
} surfaces = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0, 1, 2}, SURFACES};

static uint64_t surface_memory[SURFACES][64];

static int surface_alloc(void) {
    pthread_mutex_lock(&surfaces.lock);
    while (surfaces.top == 0)
        pthread_cond_wait(&surfaces.freed, &surfaces.lock);
    int id = surfaces.stack[--surfaces.top];
    pthread_mutex_unlock(&surfaces.lock);
    return id;
}

static void surface_free(int id) {
    pthread_mutex_lock(&surfaces.lock);
    surfaces.stack[surfaces.top++] = id;
    pthread_mutex_unlock(&surfaces.lock);
    pthread_cond_signal(&surfaces.freed);
}

static atomic_int next_picture;
static int pictures;

static void *decode(void *argument) {
    uint64_t *sum = argument;
    for (int p; (p = atomic_fetch_add(&next_picture, 1)) < pictures;) {
        int id = surface_alloc();
        for (unsigned i = 0; i < 64; i++)
            surface_memory[id][i] = (uint64_t)p + i;
        *sum += burn(surface_memory[id][p % 64], 900);
        surface_free(id);
        *sum += burn((uint64_t)p, 400);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pictures = scaled(options, 400);
    pthread_t decoders[options.threads];
    uint64_t sums[options.threads], sum = 0;
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&decoders[i], NULL, decode, &sums[i]);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(decoders[i], NULL);
        sum += sums[i];
    }
    print_result(sum);
    return 0;
}
