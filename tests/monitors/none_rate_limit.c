/* A token bucket: who finds it empty sleeps for a fixed time and fills it itself. Nobody gives a
 * token back and nobody is woken. */
#include <pthread.h>
#include <time.h>

#include "support.h"

struct bucket {
    pthread_mutex_t lock;
    int tokens, burst;
};

static struct bucket bucket = {PTHREAD_MUTEX_INITIALIZER, 40, 40};

static void bucket_take(struct bucket *b) {
    static const struct timespec pause = {0, 4000000};
    pthread_mutex_lock(&b->lock);
    while (b->tokens == 0) {
        pthread_mutex_unlock(&b->lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&b->lock);
        if (b->tokens == 0)
            b->tokens = b->burst;
    }
    b->tokens--;
    pthread_mutex_unlock(&b->lock);
}

static int senders, mails;

static void *send_mail(void *argument) {
    uint64_t sum = 0;
    for (int i = (int)(intptr_t)argument; i < mails; i += senders) {
        bucket_take(&bucket);
        sum += burn((uint64_t)i, 600);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    senders = options.threads;
    mails = scaled(options, 720);
    pthread_t *threads = calloc((size_t)senders, sizeof *threads);
    uint64_t sum = 0;
    for (int i = 0; i < senders; i++)
        pthread_create(&threads[i], NULL, send_mail, (void *)(intptr_t)i);
    for (int i = 0; i < senders; i++) {
        void *part;
        pthread_join(threads[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    free(threads);
    print_result(sum);
    return 0;
}
