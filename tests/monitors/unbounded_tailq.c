/* The list macros of sys/queue.h, a message loop, C11 threads. */
#include <sys/queue.h>
#include <threads.h>

#include "support.h"

enum message_type { MSG_HASH, MSG_SIGN, MSG_QUIT };

struct message {
    TAILQ_ENTRY(message) entries;
    enum message_type type;
    uint64_t body;
};

TAILQ_HEAD(message_list, message);

static struct mq {
    mtx_t lock;
    cnd_t ready;
    struct message_list messages;
} mq;

static void mq_send(struct mq *q, enum message_type type, uint64_t body) {
    struct message *m = malloc(sizeof *m);
    m->type = type;
    m->body = body;
    mtx_lock(&q->lock);
    TAILQ_INSERT_TAIL(&q->messages, m, entries);
    mtx_unlock(&q->lock);
    cnd_signal(&q->ready);
}

static struct message *mq_receive(struct mq *q) {
    mtx_lock(&q->lock);
    while (TAILQ_EMPTY(&q->messages))
        cnd_wait(&q->ready, &q->lock);
    struct message *m = TAILQ_FIRST(&q->messages);
    TAILQ_REMOVE(&q->messages, m, entries);
    mtx_unlock(&q->lock);
    return m;
}

static int message_loop(void *argument) {
    uint64_t *state = argument;
    for (;;) {
        struct message *m = mq_receive(&mq);
        enum message_type type = m->type;
        uint64_t body = m->body;
        free(m);
        switch (type) {
        case MSG_HASH:
            *state += burn(body, 500);
            break;
        case MSG_SIGN:
            *state += burn(body + 1, 1500);
            break;
        case MSG_QUIT:
            return 0;
        }
    }
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    thrd_t loops[options.threads];
    uint64_t states[options.threads], sum = 0;
    mtx_init(&mq.lock, mtx_plain);
    cnd_init(&mq.ready);
    TAILQ_INIT(&mq.messages);
    for (int i = 0; i < options.threads; i++) {
        states[i] = 0;
        thrd_create(&loops[i], message_loop, &states[i]);
    }
    for (int i = 0; i < scaled(options, 420); i++) {
        uint64_t body = burn((uint64_t)i, 270);
        mq_send(&mq, i % 3 == 0 ? MSG_SIGN : MSG_HASH, body);
    }
    for (int i = 0; i < options.threads; i++)
        mq_send(&mq, MSG_QUIT, 0);
    for (int i = 0; i < options.threads; i++) {
        thrd_join(loops[i], NULL);
        sum += states[i];
    }
    print_result(sum);
    return 0;
}
