/* A linked list with a limit on its length that follows the number of threads: a reader may be
 * two chunks ahead of every worker. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

struct chunk {
    struct chunk *next;
    uint32_t id;
};

struct chunk_queue {
    struct chunk *first, **last;
    unsigned length, limit;
    bool eof;
    pthread_mutex_t lock;
    pthread_cond_t more, room;
};

static void queue_init(struct chunk_queue *q, unsigned limit) {
    q->first = NULL;
    q->last = &q->first;
    q->length = 0;
    q->limit = limit;
    q->eof = false;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, NULL);
    pthread_cond_init(&q->room, NULL);
}

static void queue_append(struct chunk_queue *q, struct chunk *c) {
    c->next = NULL;
    pthread_mutex_lock(&q->lock);
    while (q->length >= q->limit)
        pthread_cond_wait(&q->room, &q->lock);
    *q->last = c;
    q->last = &c->next;
    ++q->length;
    pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
}

static struct chunk *queue_take(struct chunk_queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->first == NULL && !q->eof)
        pthread_cond_wait(&q->more, &q->lock);
    struct chunk *c = q->first;
    if (c != NULL) {
        q->first = c->next;
        if (q->first == NULL)
            q->last = &q->first;
        if (q->length-- == q->limit)
            pthread_cond_broadcast(&q->room);
    }
    pthread_mutex_unlock(&q->lock);
    return c;
}

static void queue_finish(struct chunk_queue *q) {
    pthread_mutex_lock(&q->lock);
    q->eof = true;
    pthread_cond_broadcast(&q->more);
    pthread_mutex_unlock(&q->lock);
}

static struct chunk_queue queue;

static void *compressor(void *arg) {
    uint64_t *crc = arg;
    struct chunk *c;
    while ((c = queue_take(&queue)) != NULL) {
        *crc += burn(c->id, 700 + c->id % 7 * 100);
        free(c);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int threads = options.threads;
    pthread_t tid[threads];
    uint64_t crc[threads];
    memset(crc, 0, sizeof crc);
    queue_init(&queue, 2 * (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&tid[i], NULL, compressor, &crc[i]);
    uint64_t sum = 0;
    for (int i = 0; i < scaled(options, 420); i++) {
        struct chunk *c = malloc(sizeof *c);
        c->id = (uint32_t)(sum += burn((uint64_t)i, 60));
        queue_append(&queue, c);
    }
    queue_finish(&queue);
    for (int i = 0; i < threads; i++) {
        pthread_join(tid[i], NULL);
        sum += crc[i];
    }
    print_result(sum);
    return 0;
}
