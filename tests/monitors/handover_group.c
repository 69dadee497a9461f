/* A log that several threads commit to. Whoever is at the head of the queue writes all records that
 * have come by then, one block for all of them; the others sleep, each on its own condition, and
 * find their records written. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "support.h"

typedef struct log_waiter {
    pthread_cond_t wake;
    bool written;
    uint64_t record;
    struct log_waiter *next;
} log_waiter;

static struct commit_log {
    pthread_mutex_t mu;
    log_waiter *head, **tail;
    uint64_t blocks;
} commit_log = {.mu = PTHREAD_MUTEX_INITIALIZER, .tail = &commit_log.head};

static uint64_t write_block(const log_waiter *first, const log_waiter *last) {
    uint64_t block = burn(last->record, 110);
    for (const log_waiter *w = first;; w = w->next) {
        block ^= burn(w->record, 40);
        if (w == last)
            return block;
    }
}

static void log_commit(struct commit_log *log, uint64_t record) {
    log_waiter self = {.wake = PTHREAD_COND_INITIALIZER, .record = record};
    pthread_mutex_lock(&log->mu);
    *log->tail = &self;
    log->tail = &self.next;
    while (!self.written && log->head != &self)
        pthread_cond_wait(&self.wake, &log->mu);
    if (!self.written) {
        log_waiter *last = &self;
        while (last->next)
            last = last->next;
        pthread_mutex_unlock(&log->mu);
        uint64_t block = write_block(&self, last);
        pthread_mutex_lock(&log->mu);
        log->blocks += block != 0;
        for (log_waiter *w = log->head, *next;; w = next) {
            next = w->next;
            log->head = next;
            if (w != &self) {
                w->written = true;
                pthread_cond_signal(&w->wake);
            }
            if (w == last)
                break;
        }
        if (log->head)
            pthread_cond_signal(&log->head->wake);
        else
            log->tail = &log->head;
    }
    pthread_mutex_unlock(&log->mu);
    pthread_cond_destroy(&self.wake);
}

static atomic_int next_request;
static atomic_ullong served;
static int requests;

/* A request is logged, and that it has ended. */
static void *serve(void *argument) {
    for (int r; (r = atomic_fetch_add(&next_request, 1)) < requests;) {
        uint64_t answer = burn((uint64_t)r, 20 + (unsigned)r * 7919 % 800);
        atomic_fetch_xor(&served, answer);
        log_commit(&commit_log, answer);
        log_commit(&commit_log, ~answer);
    }
    return argument;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    requests = scaled(options, 650);
    pthread_t *servers = calloc((size_t)options.threads, sizeof *servers);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&servers[i], NULL, serve, NULL);
    for (int i = 0; i < options.threads; i++)
        pthread_join(servers[i], NULL);
    free(servers);
    print_result(served);
    return 0;
}
