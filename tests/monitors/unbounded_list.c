/* A connection queue: a dispatcher appends, workers take, nobody waits for room. */
#include <pthread.h>

#include "support.h"

typedef struct conn_item CQ_ITEM;
struct conn_item {
    int fd;
    CQ_ITEM *next;
};

typedef struct {
    CQ_ITEM *head;
    CQ_ITEM *tail;
    pthread_mutex_t lock;
    pthread_cond_t cond;
} CQ;

static void cq_init(CQ *cq) {
    pthread_mutex_init(&cq->lock, NULL);
    pthread_cond_init(&cq->cond, NULL);
    cq->head = NULL;
    cq->tail = NULL;
}

static void cq_push(CQ *cq, CQ_ITEM *item) {
    item->next = NULL;
    pthread_mutex_lock(&cq->lock);
    if (NULL == cq->tail)
        cq->head = item;
    else
        cq->tail->next = item;
    cq->tail = item;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->lock);
}

static CQ_ITEM *cq_pop(CQ *cq) {
    CQ_ITEM *item;
    pthread_mutex_lock(&cq->lock);
    while (NULL == cq->head)
        pthread_cond_wait(&cq->cond, &cq->lock);
    item = cq->head;
    cq->head = item->next;
    if (NULL == cq->head)
        cq->tail = NULL;
    pthread_mutex_unlock(&cq->lock);
    return item;
}

static CQ incoming;

static CQ_ITEM *new_item(int fd) {
    CQ_ITEM *item = malloc(sizeof(CQ_ITEM));
    item->fd = fd;
    return item;
}

static void *worker_main(void *arg) {
    uint64_t *bytes = arg;
    for (;;) {
        CQ_ITEM *item = cq_pop(&incoming);
        int fd = item->fd;
        free(item);
        if (fd < 0)
            break;
        *bytes += burn((uint64_t)fd, 1100);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options settings = read_options(argc, argv);
    pthread_t *workers = calloc((size_t)settings.threads, sizeof(pthread_t));
    uint64_t *bytes = calloc((size_t)settings.threads, sizeof(uint64_t));
    uint64_t total = 0;
    int connections = scaled(settings, 350);

    cq_init(&incoming);
    for (int i = 0; i < settings.threads; i++)
        pthread_create(&workers[i], NULL, worker_main, &bytes[i]);
    for (int fd = 0; fd < connections; fd++) {
        total += burn((uint64_t)fd, 350);
        cq_push(&incoming, new_item(fd));
    }
    for (int i = 0; i < settings.threads; i++)
        cq_push(&incoming, new_item(-1));
    for (int i = 0; i < settings.threads; i++) {
        pthread_join(workers[i], NULL);
        total += bytes[i];
    }
    free(bytes);
    free(workers);
    print_result(total);
    return 0;
}
