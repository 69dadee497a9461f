/* Two counters in one predicate: who assembles needs two lids and a box at once, and the store
 * takes only so many parts of both kinds together. Parts come by the crate, all of one kind, and
 * lids are ahead of boxes after a crate of them, and boxes of lids after the next: so no counter
 * alone tells who waits. Deliveries are slow and fast by turns, so that both sides have to wait.
 *
 * usage: assembly ASSEMBLERS PRODUCTS */
#include <pthread.h>
#include <stdbool.h>

#include "../monitors/support.h"

#define PLACES 20
#define LIDS   2 /* of a product, which has one box */
#define CRATE  4 /* products' worth of one kind */

struct store {
    pthread_mutex_t mutex;
    pthread_cond_t parts, room;
    int lids, boxes;
    bool closed;
};

static struct store store = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .parts = PTHREAD_COND_INITIALIZER,
    .room = PTHREAD_COND_INITIALIZER,
    .boxes = CRATE / 2,
};

static void add_lid(struct store *s) {
    pthread_mutex_lock(&s->mutex);
    while (s->lids + s->boxes >= PLACES)
        pthread_cond_wait(&s->room, &s->mutex);
    s->lids++;
    pthread_cond_signal(&s->parts);
    pthread_mutex_unlock(&s->mutex);
}

static void add_box(struct store *s) {
    pthread_mutex_lock(&s->mutex);
    while (s->lids + s->boxes >= PLACES)
        pthread_cond_wait(&s->room, &s->mutex);
    s->boxes++;
    pthread_cond_signal(&s->parts);
    pthread_mutex_unlock(&s->mutex);
}

static bool take_parts(struct store *s) {
    pthread_mutex_lock(&s->mutex);
    while ((s->lids < LIDS || s->boxes < 1) && !s->closed)
        pthread_cond_wait(&s->parts, &s->mutex);
    bool any = s->lids >= LIDS && s->boxes >= 1;
    if (any) {
        s->lids -= LIDS;
        s->boxes -= 1;
        pthread_cond_signal(&s->room);
    }
    pthread_mutex_unlock(&s->mutex);
    return any;
}

static void close_store(struct store *s) {
    pthread_mutex_lock(&s->mutex);
    s->closed = true;
    pthread_cond_broadcast(&s->parts);
    pthread_mutex_unlock(&s->mutex);
}

static void *assemble(void *sum) {
    while (take_parts(&store))
        *(uint64_t *)sum += burn(7, 1400);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2, products = argc > 2 ? atoi(argv[2]) : 200;
    pthread_t *assemblers = calloc((size_t)threads, sizeof *assemblers);
    uint64_t *sums = calloc((size_t)threads, sizeof *sums);
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&assemblers[i], NULL, assemble, &sums[i]);
    for (int crate = 0; crate < products / CRATE; crate++) {
        int us = crate / 8 % 2 ? 30 : 300;
        for (int i = 0; i < LIDS * CRATE; i++) {
            sum += burn((uint64_t)i, us);
            add_lid(&store);
        }
        for (int i = 0; i < CRATE; i++) {
            sum += burn((uint64_t)i, us);
            add_box(&store);
        }
    }
    close_store(&store);
    for (int i = 0; i < threads; i++) {
        pthread_join(assemblers[i], NULL);
        sum += sums[i];
    }
    print_result(sum);
    free(assemblers);
    free(sums);
    return 0;
}
