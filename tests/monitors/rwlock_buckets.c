/* A hash table with a read-write lock in every bucket: an array of them, embedded two structs deep.
 */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define BUCKETS 8

struct latch {
    pthread_mutex_t guard;
    pthread_cond_t wake;
    int shared;
    bool exclusive;
};

struct bucket {
    struct header {
        struct latch latch;
        unsigned entries;
    } header;
    uint64_t content;
};

static struct table { struct bucket buckets[BUCKETS]; } table;

static void bucket_latch(struct bucket *b, bool exclusive) {
    struct latch *l = &b->header.latch;
    pthread_mutex_lock(&l->guard);
    if (exclusive) {
        while (l->exclusive || l->shared != 0)
            pthread_cond_wait(&l->wake, &l->guard);
        l->exclusive = true;
    } else {
        while (l->exclusive)
            pthread_cond_wait(&l->wake, &l->guard);
        l->shared++;
    }
    pthread_mutex_unlock(&l->guard);
}

static void bucket_unlatch(struct bucket *b) {
    struct latch *l = &b->header.latch;
    pthread_mutex_lock(&l->guard);
    if (l->exclusive)
        l->exclusive = false;
    else
        l->shared--;
    pthread_cond_broadcast(&l->wake);
    pthread_mutex_unlock(&l->guard);
}

static int clients, operations;

static void *client(void *argument) {
    uint64_t sum = 0;
    for (int i = (int)(intptr_t)argument; i < operations; i += clients) {
        uint64_t key = burn((uint64_t)i, 250);
        struct bucket *b = &table.buckets[key % BUCKETS];
        bool insert = i % 5 == 0;
        bucket_latch(b, insert);
        if (insert)
            b->content += burn(key, 650);
        else
            sum += burn(key, 650);
        bucket_unlatch(b);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    clients = options.threads;
    operations = scaled(options, 560);
    for (int i = 0; i < BUCKETS; i++) {
        pthread_mutex_init(&table.buckets[i].header.latch.guard, NULL);
        pthread_cond_init(&table.buckets[i].header.latch.wake, NULL);
    }
    pthread_t *threads = calloc((size_t)clients, sizeof *threads);
    for (int i = 0; i < clients; i++)
        pthread_create(&threads[i], NULL, client, (void *)(intptr_t)i);
    uint64_t sum = 0;
    for (int i = 0; i < clients; i++) {
        void *part;
        pthread_join(threads[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    for (int i = 0; i < BUCKETS; i++)
        sum += table.buckets[i].content;
    free(threads);
    print_result(sum);
    return 0;
}
