/* A condition for every thread on one mutex: who has finished its part wakes exactly the next one.
 */
#include <pthread.h>

#include "support.h"

static struct relay {
    pthread_mutex_t mutex;
    pthread_cond_t *go; /* one per runner */
    int baton, runners;
    uint64_t track;
} relay;

struct runner {
    pthread_t thread;
    int number;
};

static int rounds;

static void take_baton(int me) {
    pthread_mutex_lock(&relay.mutex);
    while (relay.baton != me)
        pthread_cond_wait(&relay.go[me], &relay.mutex);
    pthread_mutex_unlock(&relay.mutex);
}

static void pass_baton(int me) {
    int next = me + 1 == relay.runners ? 0 : me + 1;
    pthread_mutex_lock(&relay.mutex);
    relay.baton = next;
    pthread_mutex_unlock(&relay.mutex);
    pthread_cond_signal(&relay.go[next]);
}

static void *run(void *argument) {
    const struct runner *runner = argument;
    for (int leg = runner->number; leg < rounds; leg += relay.runners) {
        uint64_t training = burn((uint64_t)leg, 1100);
        take_baton(runner->number);
        relay.track = burn(relay.track ^ training, 100);
        pass_baton(runner->number);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    relay.runners = options.threads;
    rounds = scaled(options, 430);
    relay.go = malloc((size_t)relay.runners * sizeof *relay.go);
    pthread_mutex_init(&relay.mutex, NULL);
    struct runner *runners = calloc((size_t)relay.runners, sizeof *runners);
    for (int i = 0; i < relay.runners; i++)
        pthread_cond_init(&relay.go[i], NULL);
    for (int i = 0; i < relay.runners; i++) {
        runners[i].number = i;
        pthread_create(&runners[i].thread, NULL, run, &runners[i]);
    }
    for (int i = 0; i < relay.runners; i++)
        pthread_join(runners[i].thread, NULL);
    free(runners);
    free(relay.go);
    print_result(relay.track);
    return 0;
}
