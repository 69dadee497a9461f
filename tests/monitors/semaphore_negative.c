/* A semaphore whose value goes below zero by the number of sleepers; a second counter says how many
 * of them may wake up. */
#include <pthread.h>

#include "support.h"

typedef struct {
    int value, wakeups;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} Semaphore;

static Semaphore *make_semaphore(int value) {
    Semaphore *semaphore = malloc(sizeof(Semaphore));
    semaphore->value = value;
    semaphore->wakeups = 0;
    pthread_mutex_init(&semaphore->mutex, NULL);
    pthread_cond_init(&semaphore->cond, NULL);
    return semaphore;
}

static void semaphore_wait(Semaphore *semaphore) {
    pthread_mutex_lock(&semaphore->mutex);
    semaphore->value--;
    if (semaphore->value < 0) {
        do {
            pthread_cond_wait(&semaphore->cond, &semaphore->mutex);
        } while (semaphore->wakeups < 1);
        semaphore->wakeups--;
    }
    pthread_mutex_unlock(&semaphore->mutex);
}

static void semaphore_signal(Semaphore *semaphore) {
    pthread_mutex_lock(&semaphore->mutex);
    semaphore->value++;
    if (semaphore->value <= 0) {
        semaphore->wakeups++;
        pthread_cond_signal(&semaphore->cond);
    }
    pthread_mutex_unlock(&semaphore->mutex);
}

typedef struct {
    int id, count, step;
    uint64_t total;
} Child;

static Semaphore *multiplex;

static void *entry(void *arg) {
    Child *child = arg;
    for (int i = child->id; i < child->count; i += child->step) {
        uint64_t x = burn((uint64_t)i, 800);
        semaphore_wait(multiplex);
        x = burn(x, 500);
        semaphore_signal(multiplex);
        child->total += x;
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    Child *children = calloc((size_t)n, sizeof(Child));
    pthread_t *threads = calloc((size_t)n, sizeof(pthread_t));
    uint64_t total = 0;
    multiplex = make_semaphore(1);
    for (int i = 0; i < n; i++) {
        children[i] = (Child){i, scaled(options, 400), n, 0};
        pthread_create(&threads[i], NULL, entry, &children[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        total += children[i].total;
    }
    free(multiplex);
    free(threads);
    free(children);
    print_result(total);
    return 0;
}
