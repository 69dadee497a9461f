/* A conductor who waits until the whole orchestra is seated and then, having raised the baton,
 * until all have played the bar, under one lock of the mutex. One condition for the players and one
 * for the conductor. */
#include <pthread.h>

#include "support.h"

static pthread_mutex_t hall = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t baton = PTHREAD_COND_INITIALIZER;
static pthread_cond_t conductor = PTHREAD_COND_INITIALIZER;
static int players, seated, played, bar; /* the bar that is being played, from 1 */

static int bars;

static void *play(void *argument) {
    uint64_t *sound = argument;
    for (int next = 1; next <= bars; next++) {
        *sound += burn(*sound, 300); /* turns the page */
        pthread_mutex_lock(&hall);
        if (++seated == players)
            pthread_cond_signal(&conductor);
        while (bar < next)
            pthread_cond_wait(&baton, &hall);
        pthread_mutex_unlock(&hall);
        *sound += burn(*sound, 3000);
        pthread_mutex_lock(&hall);
        if (++played == players)
            pthread_cond_signal(&conductor);
        pthread_mutex_unlock(&hall);
    }
    return NULL;
}

static void conduct_bar(int next) {
    pthread_mutex_lock(&hall);
    while (seated < players)
        pthread_cond_wait(&conductor, &hall);
    seated = 0;
    bar = next;
    pthread_cond_broadcast(&baton);
    while (played < players)
        pthread_cond_wait(&conductor, &hall);
    played = 0;
    pthread_mutex_unlock(&hall);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[options.threads];
    uint64_t sounds[options.threads];
    players = options.threads;
    bars = scaled(options, 90);
    for (int i = 0; i < options.threads; i++) {
        sounds[i] = (uint64_t)i;
        pthread_create(&threads[i], NULL, play, &sounds[i]);
    }
    for (int next = 1; next <= bars; next++)
        conduct_bar(next);
    uint64_t sum = 0;
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += sounds[i];
    }
    print_result(sum);
    return 0;
}
