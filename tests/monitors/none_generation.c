/* A generation number that makes caches invalid: threads compare it with what they remember and
 * load again when it has changed. Nobody waits for the next generation. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

struct config {
    pthread_mutex_t lock;
    unsigned generation;
    int loaded_by;
};

static struct config config = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
static atomic_int next_request;
static int requests;

static void config_changed(struct config *c) {
    pthread_mutex_lock(&c->lock);
    c->generation++;
    c->loaded_by = 0;
    pthread_mutex_unlock(&c->lock);
}

static unsigned config_refresh(struct config *c, unsigned mine) {
    pthread_mutex_lock(&c->lock);
    if (mine != c->generation) {
        c->loaded_by++;
        mine = c->generation;
    }
    pthread_mutex_unlock(&c->lock);
    return mine;
}

static void *handle(void *argument) {
    uint64_t *sum = argument;
    unsigned mine = 0;
    for (int i; (i = atomic_fetch_add(&next_request, 1)) < requests;) {
        mine = config_refresh(&config, mine);
        *sum += burn((uint64_t)i, 450);
        if (i % 50 == 49)
            config_changed(&config);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t *threads = calloc((size_t)options.threads, sizeof *threads);
    uint64_t *sums = calloc((size_t)options.threads, sizeof *sums), sum = 0;
    requests = scaled(options, 1150);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, handle, &sums[i]);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    free(sums);
    free(threads);
    print_result(sum);
    return 0;
}
