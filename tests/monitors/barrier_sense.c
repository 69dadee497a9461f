/* Sense reversal: every thread remembers in which sense the barrier was when it came. Counts down;
 * main takes part, so there is one party more than workers. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

typedef struct {
    int total;
    int remaining;
    bool sense;
    pthread_mutex_t lock;
    pthread_cond_t flip;
} SenseBarrier;

static SenseBarrier bar;

static void SenseBarrierCross(SenseBarrier *b, bool *mySense) {
    *mySense = !*mySense;
    pthread_mutex_lock(&b->lock);
    if (--b->remaining == 0) {
        b->remaining = b->total;
        b->sense = *mySense;
        pthread_cond_broadcast(&b->flip);
    }
    while (b->sense != *mySense)
        pthread_cond_wait(&b->flip, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

typedef struct {
    pthread_t tid;
    int first, last, frames;
    uint64_t acc;
} Renderer;

static void *render(void *p) {
    Renderer *r = p;
    bool sense = false;
    for (int f = 0; f < r->frames; f++) {
        for (int tile = r->first; tile < r->last; tile++)
            r->acc += burn((uint64_t)(f * 64 + tile), 150);
        SenseBarrierCross(&bar, &sense);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options opt = read_options(argc, argv);
    int n = opt.threads, frames = scaled(opt, 80), tiles = 32;
    Renderer *rs = calloc((size_t)n, sizeof *rs);
    bar.total = bar.remaining = n + 1;
    pthread_mutex_init(&bar.lock, NULL);
    pthread_cond_init(&bar.flip, NULL);
    for (int i = 0; i < n; i++) {
        rs[i].first = tiles * i / n;
        rs[i].last = tiles * (i + 1) / n;
        rs[i].frames = frames;
        pthread_create(&rs[i].tid, NULL, render, &rs[i]);
    }
    bool sense = false;
    uint64_t sum = 0;
    for (int f = 0; f < frames; f++) {
        sum += burn((uint64_t)f, 200);
        SenseBarrierCross(&bar, &sense);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(rs[i].tid, NULL);
        sum += rs[i].acc;
    }
    free(rs);
    print_result(sum);
    return 0;
}
