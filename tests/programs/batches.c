/* Readers, always two of them, get batches of items, one at a time, each of which a team of threads
 * works off, and tells if one is bad. Usage: batches THREADS. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { READERS = 2, ITEMS = 200, MOST_THREADS = 64 };

static int n_threads = 2;
static pthread_mutex_t input = PTHREAD_MUTEX_INITIALIZER;
static int batches_left = 1;

struct team {
    atomic_int next;
    int n_items;
};

static atomic_uint sink;

static void process(int item) {
    unsigned x = (unsigned)item;
    for (int i = 0; i < 400000 + 1000 * item; i++)
        x = x * 1664525U + 1013904223U;
    if (x == 1) /* never */
        fprintf(stderr, "item %d is bad\n", item);
    atomic_store_explicit(&sink, x, memory_order_relaxed);
}

static void *work(void *of) {
    struct team *team = of;
    for (;;) {
        int item = atomic_fetch_add(&team->next, 1);
        if (item >= team->n_items)
            break;
        process(item);
    }
    return NULL;
}

static void process_batch(int n_items) {
    struct team team = {0, n_items};
    pthread_t threads[MOST_THREADS];
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, work, &team);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

static void *read_batches(void *unused) {
    for (;;) {
        pthread_mutex_lock(&input);
        int n_items = batches_left > 0 ? ITEMS : 0;
        batches_left--;
        pthread_mutex_unlock(&input);
        if (n_items == 0)
            break;
        process_batch(n_items);
    }
    return unused;
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? atoi(argv[1]) : n_threads;
    if (n_threads < 1 || n_threads > MOST_THREADS)
        return 2;
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_batches, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    puts("done");
    return 0;
}
