/* One-shot barriers: never reset, so there is one for each of the three phases of the sort. */
#include <pthread.h>

#include "support.h"

enum phase { SCAN, SCATTER, MERGE, PHASES };

static struct rendezvous {
    pthread_mutex_t mutex;
    pthread_cond_t complete;
    int arrived;
} rendezvous[PHASES];

static int parties;

static void meet(struct rendezvous *r) {
    pthread_mutex_lock(&r->mutex);
    r->arrived++;
    if (r->arrived == parties)
        pthread_cond_broadcast(&r->complete);
    while (r->arrived < parties)
        pthread_cond_wait(&r->complete, &r->mutex);
    pthread_mutex_unlock(&r->mutex);
}

static int items;
static uint64_t *keys, *ranks;

struct sorter {
    pthread_t thread;
    int begin, end;
    uint64_t sum;
};

static void *sort(void *argument) {
    struct sorter *s = argument;
    for (int i = s->begin; i < s->end; i++)
        keys[i] = burn((uint64_t)i, 500);
    meet(&rendezvous[SCAN]);
    for (int i = s->begin; i < s->end; i++)
        ranks[i] = burn(keys[(i + items / 2) % items], 600);
    meet(&rendezvous[SCATTER]);
    for (int i = s->begin; i < s->end; i++)
        s->sum += burn(ranks[(i + 1) % items], 300);
    meet(&rendezvous[MERGE]);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    parties = options.threads;
    items = scaled(options, 380);
    keys = calloc((size_t)items, sizeof *keys);
    ranks = calloc((size_t)items, sizeof *ranks);
    for (int i = 0; i < PHASES; i++) {
        pthread_mutex_init(&rendezvous[i].mutex, NULL);
        pthread_cond_init(&rendezvous[i].complete, NULL);
    }
    struct sorter *sorters = calloc((size_t)parties, sizeof *sorters);
    for (int i = 0; i < parties; i++) {
        sorters[i].begin = items * i / parties;
        sorters[i].end = items * (i + 1) / parties;
        pthread_create(&sorters[i].thread, NULL, sort, &sorters[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < parties; i++) {
        pthread_join(sorters[i].thread, NULL);
        sum += sorters[i].sum;
    }
    free(sorters);
    free(ranks);
    free(keys);
    print_result(sum);
    return 0;
}
