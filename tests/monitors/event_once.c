/* Lazy initialisation with three states: the first who needs the dictionary builds it, who comes
 * meanwhile waits until it is there, who comes later goes on. */
#include <pthread.h>

#include "support.h"

enum once_state { ONCE_NEW, ONCE_RUNNING, ONCE_DONE };

struct once {
    pthread_mutex_t lock;
    pthread_cond_t done;
    enum once_state state;
};

static struct once dictionary_once = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                      ONCE_NEW};
static uint64_t dictionary[128];
static unsigned build_us;

static void build_dictionary(void) {
    for (unsigned i = 0; i < 128; i++)
        dictionary[i] = burn(i, build_us);
}

static void call_once_by_hand(struct once *once, void (*initialise)(void)) {
    pthread_mutex_lock(&once->lock);
    if (once->state == ONCE_NEW) {
        once->state = ONCE_RUNNING;
        pthread_mutex_unlock(&once->lock);
        initialise();
        pthread_mutex_lock(&once->lock);
        once->state = ONCE_DONE;
        pthread_cond_broadcast(&once->done);
    }
    while (once->state != ONCE_DONE)
        pthread_cond_wait(&once->done, &once->lock);
    pthread_mutex_unlock(&once->lock);
}

struct chapter {
    pthread_t thread;
    int from, to;
    uint64_t sum;
};

static void *translate(void *argument) {
    struct chapter *c = argument;
    for (int word = c->from; word < c->to; word++) {
        uint64_t stem = burn((uint64_t)word, 150);
        call_once_by_hand(&dictionary_once, build_dictionary);
        c->sum += burn(dictionary[stem % 128], 650);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, words = scaled(options, 520);
    build_us = (unsigned)scaled(options, 900);
    struct chapter *chapters = calloc((size_t)n, sizeof *chapters);
    for (int i = 0; i < n; i++) {
        chapters[i].from = words * i / n;
        chapters[i].to = words * (i + 1) / n;
        pthread_create(&chapters[i].thread, NULL, translate, &chapters[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(chapters[i].thread, NULL);
        sum += chapters[i].sum;
    }
    free(chapters);
    print_result(sum);
    return 0;
}
