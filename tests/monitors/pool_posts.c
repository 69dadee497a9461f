/* Main tells each worker by a semaphore of its own that there is a frame, takes the last strips of
 * it itself, and waits by one semaphore for all until as many as there are have told that they are
 * done. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "support.h"

#define STRIPS 24

struct hand {
    pthread_t thread;
    sem_t start;
    int number, of;
    uint64_t sum;
};

static struct {
    sem_t done;
    int frame;
    bool over;
} show;

static void strips_paint(struct hand *hand) {
    for (int strip = hand->number; strip < STRIPS; strip += hand->of)
        hand->sum += burn((uint64_t)show.frame * STRIPS + (uint64_t)strip, 700);
}

static void *hand_main(void *arg) {
    struct hand *hand = arg;
    for (;;) {
        sem_wait(&hand->start);
        if (show.over)
            break;
        strips_paint(hand);
        sem_post(&show.done);
    }
    return NULL;
}

static void hands_call(struct hand *hands, int n) {
    for (int i = 0; i < n; i++)
        sem_post(&hands[i].start);
}

static void hands_await(int n) {
    for (int i = 0; i < n; i++)
        sem_wait(&show.done);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct hand *hands = calloc((size_t)options.threads, sizeof *hands);
    int others = options.threads - 1;
    sem_init(&show.done, 0, 0);
    for (int i = 0; i < options.threads; i++) {
        hands[i].number = i;
        hands[i].of = options.threads;
    }
    for (int i = 0; i < others; i++) {
        sem_init(&hands[i].start, 0, 0);
        pthread_create(&hands[i].thread, NULL, hand_main, &hands[i]);
    }
    for (int frame = 0; frame < scaled(options, 30); frame++) {
        show.frame = frame;
        hands_call(hands, others);
        strips_paint(&hands[others]);
        hands_await(others);
    }
    show.over = true;
    hands_call(hands, others);
    uint64_t sum = hands[others].sum;
    for (int i = 0; i < others; i++) {
        pthread_join(hands[i].thread, NULL);
        sum += hands[i].sum;
    }
    free(hands);
    print_result(sum);
    return 0;
}
