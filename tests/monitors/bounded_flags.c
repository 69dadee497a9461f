/* The queue that so many programs have copied from an old example: "full" and "empty" flags beside
 * head and tail, add and delete as helpers under the caller's lock. */
#include <pthread.h>

#include "support.h"

#define QUEUESIZE 10

typedef struct {
    int buf[QUEUESIZE];
    long head, tail;
    int full, empty;
    pthread_mutex_t *mut;
    pthread_cond_t *notFull, *notEmpty;
} queue;

static queue *queueInit(void) {
    queue *q = malloc(sizeof(queue));
    if (q == NULL)
        return NULL;
    q->empty = 1;
    q->full = 0;
    q->head = 0;
    q->tail = 0;
    q->mut = malloc(sizeof(pthread_mutex_t));
    pthread_mutex_init(q->mut, NULL);
    q->notFull = malloc(sizeof(pthread_cond_t));
    pthread_cond_init(q->notFull, NULL);
    q->notEmpty = malloc(sizeof(pthread_cond_t));
    pthread_cond_init(q->notEmpty, NULL);
    return q;
}

static void queueDelete(queue *q) {
    pthread_mutex_destroy(q->mut);
    free(q->mut);
    pthread_cond_destroy(q->notFull);
    free(q->notFull);
    pthread_cond_destroy(q->notEmpty);
    free(q->notEmpty);
    free(q);
}

static void queueAdd(queue *q, int in) {
    q->buf[q->tail] = in;
    q->tail++;
    if (q->tail == QUEUESIZE)
        q->tail = 0;
    if (q->tail == q->head)
        q->full = 1;
    q->empty = 0;
}

static void queueDel(queue *q, int *out) {
    *out = q->buf[q->head];
    q->head++;
    if (q->head == QUEUESIZE)
        q->head = 0;
    if (q->head == q->tail)
        q->empty = 1;
    q->full = 0;
}

static queue *fifo;
static int allDone;

static void *consumer(void *arg) {
    uint64_t *sum = arg;
    int d;
    for (;;) {
        pthread_mutex_lock(fifo->mut);
        while (fifo->empty && !allDone)
            pthread_cond_wait(fifo->notEmpty, fifo->mut);
        if (fifo->empty) {
            pthread_mutex_unlock(fifo->mut);
            return NULL;
        }
        queueDel(fifo, &d);
        pthread_mutex_unlock(fifo->mut);
        pthread_cond_signal(fifo->notFull);
        *sum += burn((uint64_t)d, 850);
    }
}

static uint64_t producer(int items) {
    uint64_t sum = 0;
    for (int i = 0; i < items; i++) {
        sum += burn((uint64_t)i, 180);
        pthread_mutex_lock(fifo->mut);
        while (fifo->full)
            pthread_cond_wait(fifo->notFull, fifo->mut);
        queueAdd(fifo, i);
        pthread_mutex_unlock(fifo->mut);
        pthread_cond_signal(fifo->notEmpty);
    }
    pthread_mutex_lock(fifo->mut);
    allDone = 1;
    pthread_cond_broadcast(fifo->notEmpty);
    pthread_mutex_unlock(fifo->mut);
    return sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    pthread_t con[n];
    uint64_t sums[n], sum;
    memset(sums, 0, sizeof sums);
    fifo = queueInit();
    if (fifo == NULL)
        return 1;
    for (int i = 0; i < n; i++)
        pthread_create(&con[i], NULL, consumer, &sums[i]);
    sum = producer(scaled(options, 480));
    for (int i = 0; i < n; i++) {
        pthread_join(con[i], NULL);
        sum += sums[i];
    }
    queueDelete(fifo);
    print_result(sum);
    return 0;
}
