/* A ring that doubles when it is full: has head, tail and a capacity, and yet nobody waits for
 * room. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

typedef struct {
    uint32_t *slots;
    size_t cap, head, count;
    pthread_mutex_t mu;
    pthread_cond_t nonempty;
} work_queue;

static void work_queue_push(work_queue *q, uint32_t v) {
    pthread_mutex_lock(&q->mu);
    if (q->count == q->cap) {
        uint32_t *bigger = malloc(2 * q->cap * sizeof *bigger);
        for (size_t i = 0; i < q->count; i++)
            bigger[i] = q->slots[(q->head + i) % q->cap];
        free(q->slots);
        q->slots = bigger;
        q->head = 0;
        q->cap *= 2;
    }
    q->slots[(q->head + q->count) % q->cap] = v;
    if (q->count++ == 0)
        pthread_cond_broadcast(&q->nonempty);
    pthread_mutex_unlock(&q->mu);
}

static uint32_t work_queue_pop(work_queue *q) {
    pthread_mutex_lock(&q->mu);
    while (q->count == 0)
        pthread_cond_wait(&q->nonempty, &q->mu);
    uint32_t v = q->slots[q->head];
    q->head = (q->head + 1) % q->cap;
    q->count--;
    pthread_mutex_unlock(&q->mu);
    return v;
}

static work_queue tiles;
static const uint32_t no_more = UINT32_MAX;

static void *shade(void *p) {
    uint64_t light = 0;
    for (uint32_t tile; (tile = work_queue_pop(&tiles)) != no_more;)
        light += burn(tile, 750);
    *(uint64_t *)p = light;
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    tiles.cap = 4;
    tiles.slots = malloc(tiles.cap * sizeof *tiles.slots);
    pthread_mutex_init(&tiles.mu, NULL);
    pthread_cond_init(&tiles.nonempty, NULL);
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    uint64_t *light = calloc((size_t)n, sizeof *light), sum = 0;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, shade, &light[i]);
    for (uint32_t i = 0; i < (uint32_t)scaled(options, 560); i++) {
        sum += burn(i, 170);
        work_queue_push(&tiles, i);
    }
    for (int i = 0; i < n; i++)
        work_queue_push(&tiles, no_more);
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += light[i];
    }
    free(light);
    free(threads);
    free(tiles.slots);
    print_result(sum);
    return 0;
}
