/* A mail room: letters and parcels go into belts of their own, of which each has its mutex, from
 * one place in the code; the sorters of letters never see a parcel. */
#include <pthread.h>

#include "support.h"

enum kind { LETTER, PARCEL, N_KINDS };

#define BELT_PLACES 6

typedef struct Belt {
    pthread_mutex_t mtx;
    pthread_cond_t changed;
    unsigned in, out; /* counted on and on */
    int running;
    long item[BELT_PLACES];
} Belt;

static Belt belts[N_KINDS];

static void Belt_init(Belt *b) {
    pthread_mutex_init(&b->mtx, NULL);
    pthread_cond_init(&b->changed, NULL);
    b->running = 1;
}

static void Belt_load(Belt *b, long item) {
    pthread_mutex_lock(&b->mtx);
    while (b->in - b->out == BELT_PLACES)
        pthread_cond_wait(&b->changed, &b->mtx);
    b->item[b->in++ % BELT_PLACES] = item;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mtx);
}

static int Belt_unload(Belt *b, long *item) {
    int got = 0;
    pthread_mutex_lock(&b->mtx);
    while (b->in == b->out && b->running)
        pthread_cond_wait(&b->changed, &b->mtx);
    if (b->in != b->out) {
        *item = b->item[b->out++ % BELT_PLACES];
        pthread_cond_broadcast(&b->changed);
        got = 1;
    }
    pthread_mutex_unlock(&b->mtx);
    return got;
}

static void Belt_stop(Belt *b) {
    pthread_mutex_lock(&b->mtx);
    b->running = 0;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mtx);
}

static void *sort_letters(void *sum) {
    for (long item; Belt_unload(&belts[LETTER], &item);)
        *(uint64_t *)sum += burn((uint64_t)item, 700);
    return NULL;
}

static void *weigh_parcels(void *sum) {
    for (long item; Belt_unload(&belts[PARCEL], &item);)
        *(uint64_t *)sum += burn((uint64_t)item, 400);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    size_t sorters = (size_t)options.threads;
    pthread_t *threads = calloc(sorters + 1, sizeof *threads);
    uint64_t *sums = calloc(sorters + 1, sizeof *sums), sum = 0;

    for (int k = 0; k < N_KINDS; k++)
        Belt_init(&belts[k]);
    pthread_create(&threads[sorters], NULL, weigh_parcels, &sums[sorters]);
    for (size_t i = 0; i < sorters; i++)
        pthread_create(&threads[i], NULL, sort_letters, &sums[i]);
    for (long i = 0; i < scaled(options, 600); i++) {
        enum kind kind = i % 5 == 2 || i % 7 == 0 ? PARCEL : LETTER;
        sum += burn((uint64_t)i, 120);
        Belt_load(&belts[kind], i);
    }
    for (int k = 0; k < N_KINDS; k++)
        Belt_stop(&belts[k]);
    for (size_t i = 0; i <= sorters; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    print_result(sum);
    free(sums);
    free(threads);
    return 0;
}
