/* An inbox for every worker: an array of bounded queues, dealt round robin. */
#include <pthread.h>

#include "support.h"

enum { INBOX = 4 };

struct inbox {
    pthread_mutex_t lock;
    pthread_cond_t arrived, fetched;
    int letters[INBOX];
    int n, oldest;
};

struct clerk {
    pthread_t thread;
    struct inbox inbox;
    uint64_t sum;
};

static void deliver(struct inbox *box, int letter) {
    pthread_mutex_lock(&box->lock);
    while (box->n == INBOX)
        pthread_cond_wait(&box->fetched, &box->lock);
    box->letters[(box->oldest + box->n) % INBOX] = letter;
    box->n += 1;
    pthread_cond_signal(&box->arrived);
    pthread_mutex_unlock(&box->lock);
}

static int fetch(struct inbox *box) {
    pthread_mutex_lock(&box->lock);
    while (box->n == 0)
        pthread_cond_wait(&box->arrived, &box->lock);
    int letter = box->letters[box->oldest];
    box->oldest = (box->oldest + 1) % INBOX;
    box->n -= 1;
    pthread_cond_signal(&box->fetched);
    pthread_mutex_unlock(&box->lock);
    return letter;
}

static void *answer(void *argument) {
    struct clerk *clerk = argument;
    for (int letter; (letter = fetch(&clerk->inbox)) >= 0;)
        clerk->sum += burn((uint64_t)letter, 1100);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, letters = scaled(options, 420);
    struct clerk *clerks = calloc((size_t)n, sizeof *clerks);
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_mutex_init(&clerks[i].inbox.lock, NULL);
        pthread_cond_init(&clerks[i].inbox.arrived, NULL);
        pthread_cond_init(&clerks[i].inbox.fetched, NULL);
        pthread_create(&clerks[i].thread, NULL, answer, &clerks[i]);
    }
    for (int i = 0; i < letters; i++) {
        sum += burn((uint64_t)i, 120);
        deliver(&clerks[i % n].inbox, i);
    }
    for (int i = 0; i < n; i++)
        deliver(&clerks[i].inbox, -1);
    for (int i = 0; i < n; i++) {
        pthread_join(clerks[i].thread, NULL);
        sum += clerks[i].sum;
    }
    free(clerks);
    print_result(sum);
    return 0;
}
