/* A program with as many calls as it is asked for: one producer and four consumers share a bounded
 * queue of their own making. What is done with an item takes some microseconds, so that the calls
 * are what a trace is full of. usage: linear ITEMS      (some six calls an item) */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 16, CONSUMERS = 4 };

static struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    unsigned items[CAPACITY];
    int first, count;
    bool closed;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER};

static void put(unsigned item) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == CAPACITY)
        pthread_cond_wait(&queue.not_full, &queue.mutex);
    queue.items[(queue.first + queue.count++) % CAPACITY] = item;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.mutex);
}

static void close_queue(void) {
    pthread_mutex_lock(&queue.mutex);
    queue.closed = true;
    pthread_cond_broadcast(&queue.not_empty);
    pthread_mutex_unlock(&queue.mutex);
}

/* False: it is empty, and closed. */
static bool get(unsigned *item) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == 0 && !queue.closed)
        pthread_cond_wait(&queue.not_empty, &queue.mutex);
    bool is_there = queue.count > 0;
    if (is_there) {
        *item = queue.items[queue.first];
        queue.first = (queue.first + 1) % CAPACITY;
        queue.count--;
        pthread_cond_signal(&queue.not_full);
    }
    pthread_mutex_unlock(&queue.mutex);
    return is_there;
}

static void *consume(void *result) {
    unsigned *sum = result, item;
    while (get(&item))
        for (int i = 0; i < 1000; i++)
            *sum = *sum * 1664525U + item;
    return NULL;
}

int main(int argc, char **argv) {
    long items = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (items <= 0) {
        fprintf(stderr, "usage: linear ITEMS\n");
        return 2;
    }
    pthread_t threads[CONSUMERS];
    unsigned sums[CONSUMERS] = {0}, sum = 0;
    for (int t = 0; t < CONSUMERS; t++)
        pthread_create(&threads[t], NULL, consume, &sums[t]);
    for (long i = 0; i < items; i++)
        put((unsigned)i);
    close_queue();
    for (int t = 0; t < CONSUMERS; t++) {
        pthread_join(threads[t], NULL);
        sum += sums[t];
    }
    printf("%ld items, %u\n", items, sum);
    return 0;
}
