/* three_stages FIRST SECOND THIRD ITEMS [burn]: items go through three threads with a queue of four
 * between each two. The stages sleep so many microseconds for each item, so that the running time
 * follows from these numbers. With "burn", a fourth thread computes beside them until they are
 * done; nobody waits for what it does. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CAPACITY = 4 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled, emptied;
    int count;
};

static struct queue raw = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                           PTHREAD_COND_INITIALIZER, 0};
static struct queue done = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                            PTHREAD_COND_INITIALIZER, 0};
static long first_us, second_us, third_us, n_items;
static atomic_bool is_over;

static void pass_time(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    if (us > 0)
        nanosleep(&time, NULL);
}

static void put(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == CAPACITY)
        pthread_cond_wait(&queue->emptied, &queue->mutex);
    queue->count++;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->mutex);
}

static void get(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0)
        pthread_cond_wait(&queue->filled, &queue->mutex);
    queue->count--;
    pthread_cond_signal(&queue->emptied);
    pthread_mutex_unlock(&queue->mutex);
}

static void *first(void *unused) {
    for (long i = 0; i < n_items; i++) {
        pass_time(first_us); /* the first stage works */
        put(&raw);
    }
    return unused;
}

static void *second(void *unused) {
    for (long i = 0; i < n_items; i++) {
        get(&raw);
        pass_time(second_us);
        put(&done);
    }
    return unused;
}

static void *third(void *unused) {
    for (long i = 0; i < n_items; i++) {
        get(&done);
        pass_time(third_us);
    }
    return unused;
}

static void *burn(void *unused) {
    while (!atomic_load(&is_over))
        ;
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 2;
    first_us = strtol(argv[1], NULL, 10);
    second_us = strtol(argv[2], NULL, 10);
    third_us = strtol(argv[3], NULL, 10);
    n_items = strtol(argv[4], NULL, 10);
    bool burns = argc > 5 && strcmp(argv[5], "burn") == 0;
    pthread_t stages[3], burner;
    if (burns)
        pthread_create(&burner, NULL, burn, NULL);
    pthread_create(&stages[0], NULL, first, NULL);
    pthread_create(&stages[1], NULL, second, NULL);
    pthread_create(&stages[2], NULL, third, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(stages[i], NULL);
    atomic_store(&is_over, true);
    if (burns)
        pthread_detach(burner);
    return 0;
}
