/* Globals, no counter: a ring of head and tail with one place left empty, so it holds SLOTS - 1.
 * A negative number ends a consumer. Several producers are the threads, main consumes. */
#include <pthread.h>

#include "support.h"

#define SLOTS 7

static pthread_mutex_t q_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t q_nonempty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t q_nonfull = PTHREAD_COND_INITIALIZER;
static uint64_t q_slot[SLOTS];
static unsigned q_head, q_tail;

static void q_push(uint64_t value) {
    pthread_mutex_lock(&q_lock);
    while ((q_tail + 1) % SLOTS == q_head)
        pthread_cond_wait(&q_nonfull, &q_lock);
    q_slot[q_tail] = value;
    q_tail = (q_tail + 1) % SLOTS;
    pthread_mutex_unlock(&q_lock);
    pthread_cond_signal(&q_nonempty);
}

static uint64_t q_pop(void) {
    uint64_t value;
    pthread_mutex_lock(&q_lock);
    while (q_head == q_tail)
        pthread_cond_wait(&q_nonempty, &q_lock);
    value = q_slot[q_head];
    q_head = (q_head + 1) % SLOTS;
    pthread_mutex_unlock(&q_lock);
    pthread_cond_signal(&q_nonfull);
    return value;
}

static int n_threads, n_items;

static void *producer(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int i = me; i < n_items; i += n_threads)
        q_push(burn((uint64_t)i, 800));
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    n_threads = options.threads;
    n_items = scaled(options, 480);
    pthread_t *threads = malloc((size_t)n_threads * sizeof *threads);
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, producer, (void *)(intptr_t)i);
    uint64_t sum = 0;
    for (int i = 0; i < n_items; i++)
        sum += burn(q_pop(), 250);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    print_result(sum);
    return 0;
}
