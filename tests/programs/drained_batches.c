/* KIND: consumers take up to sixteen items at once from a list under a lock
 * BUILD: gcc -g -O2 -pthread drained_batches.c -o drained_batches
 * RUN: persik profile -- ./drained_batches 2; predict -- ./drained_batches {threads} */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

struct item {
    struct item *next;
    unsigned key;
};
struct list {
    pthread_mutex_t lock;
    pthread_cond_t nonempty;
    struct item *head, **tail;
    bool closed;
};
static volatile unsigned sink;
static struct list list = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &list.head,
                           false};
enum { ITEMS = 6000, BATCH = 16 };

static void push(struct item *item) {
    pthread_mutex_lock(&list.lock);
    item->next = NULL;
    *list.tail = item;
    list.tail = &item->next;
    pthread_cond_signal(&list.nonempty);
    pthread_mutex_unlock(&list.lock);
}

static struct item *drain(void) {
    pthread_mutex_lock(&list.lock);
    while (list.head == NULL && !list.closed)
        pthread_cond_wait(&list.nonempty, &list.lock);
    struct item *first = list.head, **end = &first;
    for (int i = 0; i < BATCH && *end; i++)
        end = &(*end)->next;
    list.head = *end;
    *end = NULL;
    if (list.head == NULL)
        list.tail = &list.head;
    pthread_mutex_unlock(&list.lock);
    return first;
}

static void *consume(void *arg) {
    struct item *item;
    (void)arg;
    while ((item = drain())) {
        while (item) {
            struct item *next = item->next;
            sink = (unsigned)work(item->key, 20);
            free(item);
            item = next;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *threads = malloc((size_t)n * sizeof *threads);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, consume, NULL);
    for (unsigned i = 0; i < ITEMS; i++) {
        struct item *item = malloc(sizeof *item);
        item->key = (unsigned)work(i, 2);
        push(item);
    }
    pthread_mutex_lock(&list.lock);
    list.closed = true;
    pthread_cond_broadcast(&list.nonempty);
    pthread_mutex_unlock(&list.lock);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    puts("done");
    return 0;
}
