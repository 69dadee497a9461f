/* A race: main waits until all runners are ready, starts them and waits until all have arrived, and
 * keeps the mutex through both waits. One condition for all three things that somebody waits for.
 */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

struct race {
    pthread_mutex_t mu;
    pthread_cond_t cv;
    int total, ready, arrived;
    bool started;
};

struct runner {
    struct race *race;
    uint64_t number, result;
    int laps;
};

static void *run(void *argument) {
    struct runner *runner = argument;
    struct race *race = runner->race;
    runner->result = burn(runner->number, 12000); /* main has come to wait by then */
    pthread_mutex_lock(&race->mu);
    race->ready++;
    if (race->ready >= race->total)
        pthread_cond_broadcast(&race->cv);
    while (!race->started)
        pthread_cond_wait(&race->cv, &race->mu);
    pthread_mutex_unlock(&race->mu);
    for (int lap = 0; lap < runner->laps; lap++)
        runner->result += burn(runner->result, 900);
    pthread_mutex_lock(&race->mu);
    race->arrived++;
    if (race->arrived >= race->total)
        pthread_cond_broadcast(&race->cv);
    pthread_mutex_unlock(&race->mu);
    return NULL;
}

static void start_and_await(struct race *race) {
    pthread_mutex_lock(&race->mu);
    while (race->ready < race->total)
        pthread_cond_wait(&race->cv, &race->mu);
    race->started = true;
    pthread_cond_broadcast(&race->cv);
    while (race->arrived < race->total)
        pthread_cond_wait(&race->cv, &race->mu);
    pthread_mutex_unlock(&race->mu);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct race race = {.total = options.threads};
    struct runner runners[options.threads];
    pthread_t threads[options.threads];
    pthread_mutex_init(&race.mu, NULL);
    pthread_cond_init(&race.cv, NULL);
    for (int i = 0; i < options.threads; i++) {
        runners[i] = (struct runner){&race, (uint64_t)i, 0, scaled(options, 320)};
        pthread_create(&threads[i], NULL, run, &runners[i]);
    }
    start_and_await(&race);
    uint64_t sum = 0;
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += runners[i].result;
    }
    pthread_cond_destroy(&race.cv);
    pthread_mutex_destroy(&race.mu);
    print_result(sum);
    return 0;
}
