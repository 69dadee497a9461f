/* A ticket lock of a mutex and a condition: first come, first served. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

struct ticket_lock {
    pthread_mutex_t mutex;
    pthread_cond_t called;
    unsigned long next_ticket, now_serving;
};

#define TICKET_LOCK_INITIALIZER                                                                    \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }

static void ticket_lock(struct ticket_lock *lock) {
    pthread_mutex_lock(&lock->mutex);
    unsigned long mine = lock->next_ticket++;
    while (mine != lock->now_serving)
        pthread_cond_wait(&lock->called, &lock->mutex);
    pthread_mutex_unlock(&lock->mutex);
}

static void ticket_unlock(struct ticket_lock *lock) {
    pthread_mutex_lock(&lock->mutex);
    lock->now_serving++;
    pthread_cond_broadcast(&lock->called);
    pthread_mutex_unlock(&lock->mutex);
}

static struct ticket_lock counter = TICKET_LOCK_INITIALIZER;
static uint64_t balance;
static atomic_int arrivals;
static int customers;

static void *customer(void *argument) {
    for (int c; (c = atomic_fetch_add(&arrivals, 1)) < customers;) {
        uint64_t amount = burn((uint64_t)c, 700);
        ticket_lock(&counter);
        balance += burn(amount, 160);
        ticket_unlock(&counter);
    }
    return argument;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    customers = scaled(options, 600);
    pthread_t *threads = calloc((size_t)options.threads, sizeof *threads);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, customer, NULL);
    for (int i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    print_result(balance);
    return 0;
}
