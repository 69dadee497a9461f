/* Waits inside pthread_cleanup_push, because the workers are cancelled when the work is done: a
 * cancelled wait returns with the mutex locked, the handler unlocks it. */
#include <pthread.h>

#include "support.h"

#define DEPTH 12

struct channel {
    pthread_mutex_t mutex;
    pthread_cond_t readable, writable;
    unsigned used, read_at, write_at;
    unsigned message[DEPTH];
};

static struct channel channel;
static uint64_t handled_sum;

static void unlock(void *mutex) {
    pthread_mutex_unlock(mutex);
}

static void channel_send(struct channel *c, unsigned message) {
    pthread_mutex_lock(&c->mutex);
    pthread_cleanup_push(unlock, &c->mutex);
    while (c->used == DEPTH)
        pthread_cond_wait(&c->writable, &c->mutex);
    c->message[c->write_at] = message;
    c->write_at = (c->write_at + 1) % DEPTH;
    ++c->used;
    pthread_cond_signal(&c->readable);
    pthread_cleanup_pop(1);
}

static unsigned channel_receive(struct channel *c) {
    unsigned message;
    pthread_mutex_lock(&c->mutex);
    pthread_cleanup_push(unlock, &c->mutex);
    while (c->used == 0)
        pthread_cond_wait(&c->readable, &c->mutex);
    message = c->message[c->read_at];
    c->read_at = (c->read_at + 1) % DEPTH;
    --c->used;
    pthread_cond_signal(&c->writable);
    pthread_cleanup_pop(1);
    return message;
}

static void *serve(void *unused) {
    (void)unused;
    for (;;) {
        uint64_t value = burn(channel_receive(&channel), 1250);
        __atomic_fetch_add(&handled_sum, value, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[options.threads];
    pthread_mutex_init(&channel.mutex, NULL);
    pthread_cond_init(&channel.readable, NULL);
    pthread_cond_init(&channel.writable, NULL);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, serve, NULL);
    unsigned messages = (unsigned)scaled(options, 380);
    for (unsigned i = 0; i < messages; i++)
        channel_send(&channel, (unsigned)burn(i, 80));
    /* A wait is the only place where cancelling works: what has been received gets finished. What
     * is left in the channel is ours. */
    for (int i = 0; i < options.threads; i++)
        pthread_cancel(threads[i]);
    for (int i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    while (channel.used > 0)
        handled_sum += burn(channel_receive(&channel), 1250);
    print_result(handled_sum);
    return 0;
}
