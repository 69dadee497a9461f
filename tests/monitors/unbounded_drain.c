/* The consumer takes all that is there at once: it swaps the list for an empty one and works
 * through it without the lock. Producers are the threads. */
#include <pthread.h>

#include "support.h"

struct record {
    struct record *next;
    uint64_t value;
};

static struct sink {
    pthread_mutex_t lock;
    pthread_cond_t pending;
    struct record *list;
    int open; /* producers still writing */
} sink = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

static void sink_write(struct sink *s, uint64_t value) {
    struct record *record = malloc(sizeof *record);
    record->value = value;
    pthread_mutex_lock(&s->lock);
    record->next = s->list;
    s->list = record;
    pthread_mutex_unlock(&s->lock);
    pthread_cond_signal(&s->pending);
}

static void sink_leave(struct sink *s) {
    pthread_mutex_lock(&s->lock);
    s->open--;
    pthread_cond_signal(&s->pending);
    pthread_mutex_unlock(&s->lock);
}

static struct record *sink_drain(struct sink *s) {
    pthread_mutex_lock(&s->lock);
    while (s->list == NULL && s->open > 0)
        pthread_cond_wait(&s->pending, &s->lock);
    struct record *batch = s->list;
    s->list = NULL;
    pthread_mutex_unlock(&s->lock);
    return batch;
}

static int threads, records;

static void *produce(void *argument) {
    for (int i = (int)(intptr_t)argument; i < records; i += threads)
        sink_write(&sink, burn((uint64_t)i, 700));
    sink_leave(&sink);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = sink.open = options.threads;
    records = scaled(options, 560);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, produce, (void *)(intptr_t)i);
    uint64_t sum = 0;
    for (struct record *batch; (batch = sink_drain(&sink)) != NULL;) {
        while (batch != NULL) {
            struct record *next = batch->next;
            sum += burn(batch->value, 230);
            free(batch);
            batch = next;
        }
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    print_result(sum);
    return 0;
}
