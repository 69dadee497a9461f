/* A count-down latch: one count for every worker, main goes on when all have prepared their part.
 * The workers do not wait for each other. */
#include <pthread.h>

#include "support.h"

struct latch {
    int count;
    pthread_mutex_t mutex;
    pthread_cond_t zero;
};

static void latch_init(struct latch *latch, int count) {
    latch->count = count;
    pthread_mutex_init(&latch->mutex, NULL);
    pthread_cond_init(&latch->zero, NULL);
}

static void latch_count_down(struct latch *latch) {
    pthread_mutex_lock(&latch->mutex);
    if (--latch->count == 0)
        pthread_cond_broadcast(&latch->zero);
    pthread_mutex_unlock(&latch->mutex);
}

static void latch_await(struct latch *latch) {
    pthread_mutex_lock(&latch->mutex);
    while (latch->count > 0)
        pthread_cond_wait(&latch->zero, &latch->mutex);
    pthread_mutex_unlock(&latch->mutex);
}

static struct latch prepared;
static struct options options;

static uint64_t share(int me, int total, unsigned us) {
    uint64_t sum = 0;
    for (int i = me; i < total; i += options.threads)
        sum += burn((uint64_t)i, us);
    return sum;
}

struct shard {
    pthread_t thread;
    int number;
    uint64_t index, merged;
};

static void *build(void *argument) {
    struct shard *shard = argument;
    shard->index = share(shard->number, scaled(options, 160), 1500);
    latch_count_down(&prepared);
    shard->merged = share(shard->number, scaled(options, 80), 1200);
    return NULL;
}

int main(int argc, char **argv) {
    options = read_options(argc, argv);
    struct shard *shards = calloc((size_t)options.threads, sizeof *shards);
    latch_init(&prepared, options.threads);
    for (int i = 0; i < options.threads; i++) {
        shards[i].number = i;
        pthread_create(&shards[i].thread, NULL, build, &shards[i]);
    }
    latch_await(&prepared);
    uint64_t sum = 0;
    for (int i = 0; i < options.threads; i++)
        sum += shards[i].index;
    sum = burn(sum, (unsigned)scaled(options, 150) * 1000);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(shards[i].thread, NULL);
        sum += shards[i].merged;
    }
    free(shards);
    print_result(sum);
    return 0;
}
