/* One signed number: readers count up from zero, -1 is the writer. */
#include <pthread.h>

#include "support.h"

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    long holders;
} shared_lock;

static shared_lock index_lock = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void lock_shared(shared_lock *l) {
    pthread_mutex_lock(&l->mutex);
    while (l->holders < 0)
        pthread_cond_wait(&l->cond, &l->mutex);
    l->holders++;
    pthread_mutex_unlock(&l->mutex);
}

static void lock_exclusive(shared_lock *l) {
    pthread_mutex_lock(&l->mutex);
    while (l->holders != 0)
        pthread_cond_wait(&l->cond, &l->mutex);
    l->holders = -1;
    pthread_mutex_unlock(&l->mutex);
}

static void unlock(shared_lock *l) {
    pthread_mutex_lock(&l->mutex);
    if (l->holders > 0)
        l->holders--;
    else
        l->holders = 0;
    if (l->holders == 0)
        pthread_cond_broadcast(&l->cond);
    pthread_mutex_unlock(&l->mutex);
}

static uint64_t posting_lists;
static int searchers, queries;

static void *search(void *argument) {
    uint64_t hits = 0;
    for (int q = (int)(intptr_t)argument; q < queries; q += searchers) {
        uint64_t term = burn((uint64_t)q, 300);
        if (q % 11 == 5) {
            lock_exclusive(&index_lock);
            posting_lists += burn(term, 400);
            unlock(&index_lock);
        } else {
            lock_shared(&index_lock);
            hits += burn(term, 500);
            unlock(&index_lock);
        }
    }
    return (void *)(uintptr_t)hits;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    searchers = options.threads;
    queries = scaled(options, 640);
    pthread_t ids[searchers];
    for (int i = 0; i < searchers; i++)
        pthread_create(&ids[i], NULL, search, (void *)(intptr_t)i);
    uint64_t sum = 0;
    for (int i = 0; i < searchers; i++) {
        void *hits;
        pthread_join(ids[i], &hits);
        sum += (uint64_t)(uintptr_t)hits;
    }
    print_result(sum + posting_lists);
    return 0;
}
