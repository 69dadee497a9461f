/* Sequence numbers are given out and checked off under a mutex: the highest number seen is kept,
 * but nobody waits for the number before. */
#include <pthread.h>

#include "support.h"

typedef struct journal {
    pthread_mutex_t lock;
    long next_seq, last_written;
    long out_of_order;
} journal;

static journal log_ = {PTHREAD_MUTEX_INITIALIZER, 0, -1, 0};
static long entries;

static long journal_begin(journal *j) {
    pthread_mutex_lock(&j->lock);
    long seq = j->next_seq < entries ? j->next_seq++ : -1;
    pthread_mutex_unlock(&j->lock);
    return seq;
}

static void journal_commit(journal *j, long seq) {
    pthread_mutex_lock(&j->lock);
    if (seq != j->last_written + 1)
        j->out_of_order++;
    if (seq > j->last_written)
        j->last_written = seq;
    pthread_mutex_unlock(&j->lock);
}

static void *transact(void *argument) {
    uint64_t *sum = argument;
    for (long seq; (seq = journal_begin(&log_)) >= 0;) {
        *sum += burn((uint64_t)seq, 500 + (unsigned)(seq % 3) * 300);
        journal_commit(&log_, seq);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    uint64_t *sums = calloc((size_t)n, sizeof *sums), sum = 0;
    entries = scaled(options, 600);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, transact, &sums[i]);
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    free(sums);
    free(threads);
    print_result(sum);
    return 0;
}
