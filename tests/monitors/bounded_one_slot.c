/* A mailbox for one message: a pointer that is NULL when there is none. Two conditions, while-not
 * loops, the message owned by who takes it. */
#include <pthread.h>

#include "support.h"

typedef struct message {
    int number;
    int last;
} message;

typedef struct mailbox {
    pthread_mutex_t mtx;
    pthread_cond_t taken;
    pthread_cond_t filled;
    message *msg;
} mailbox;

static void mailbox_send(mailbox *box, message *msg) {
    pthread_mutex_lock(&box->mtx);
    while (box->msg)
        pthread_cond_wait(&box->taken, &box->mtx);
    box->msg = msg;
    pthread_cond_signal(&box->filled);
    pthread_mutex_unlock(&box->mtx);
}

static message *mailbox_receive(mailbox *box) {
    message *msg;
    pthread_mutex_lock(&box->mtx);
    while (!(msg = box->msg))
        pthread_cond_wait(&box->filled, &box->mtx);
    box->msg = NULL;
    pthread_cond_signal(&box->taken);
    pthread_mutex_unlock(&box->mtx);
    return msg;
}

static mailbox box;

static message *message_new(int number, int last) {
    message *msg = malloc(sizeof *msg);
    msg->number = number;
    msg->last = last;
    return msg;
}

static void *serve(void *result) {
    uint64_t sum = 0;
    int last = 0;
    while (!last) {
        message *msg = mailbox_receive(&box);
        last = msg->last;
        if (!last)
            sum += burn((uint64_t)msg->number, 1500);
        free(msg);
    }
    *(uint64_t *)result = sum;
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    size_t threads = (size_t)options.threads;
    pthread_t *ids = calloc(threads, sizeof *ids);
    uint64_t *sums = calloc(threads, sizeof *sums);
    pthread_mutex_init(&box.mtx, NULL);
    pthread_cond_init(&box.taken, NULL);
    pthread_cond_init(&box.filled, NULL);
    for (size_t i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, serve, &sums[i]);
    int requests = scaled(options, 300);
    for (int i = 0; i < requests; i++)
        mailbox_send(&box, message_new(i, 0));
    for (size_t i = 0; i < threads; i++)
        mailbox_send(&box, message_new(0, 1));
    uint64_t sum = 0;
    for (size_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += sums[i];
    }
    free(sums);
    free(ids);
    print_result(sum);
    return 0;
}
