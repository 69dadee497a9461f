/* Two queues of eight places each under one mutex, for urgent and for ordinary letters, each with
 * its own consumers. It is not one queue of sixteen. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define PLACES 8

struct tray {
    int letter[PLACES];
    int count, next;
    bool closed;
    pthread_cond_t not_empty, not_full;
};

static pthread_mutex_t office = PTHREAD_MUTEX_INITIALIZER;
static struct tray trays[2] = {
    {.not_empty = PTHREAD_COND_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER},
    {.not_empty = PTHREAD_COND_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER},
};

static void tray_put(struct tray *t, int letter) {
    pthread_mutex_lock(&office);
    while (t->count == PLACES)
        pthread_cond_wait(&t->not_full, &office);
    t->letter[(t->next + t->count++) % PLACES] = letter;
    pthread_cond_signal(&t->not_empty);
    pthread_mutex_unlock(&office);
}

static bool tray_get(struct tray *t, int *letter) {
    pthread_mutex_lock(&office);
    while (t->count == 0 && !t->closed)
        pthread_cond_wait(&t->not_empty, &office);
    bool any = t->count > 0;
    if (any) {
        *letter = t->letter[t->next];
        t->next = (t->next + 1) % PLACES;
        t->count--;
        pthread_cond_signal(&t->not_full);
    }
    pthread_mutex_unlock(&office);
    return any;
}

static void tray_close(struct tray *t) {
    pthread_mutex_lock(&office);
    t->closed = true;
    pthread_cond_broadcast(&t->not_empty);
    pthread_mutex_unlock(&office);
}

static uint64_t drain(struct tray *t, unsigned us) {
    uint64_t sum = 0;
    for (int letter; tray_get(t, &letter);)
        sum += burn((uint64_t)letter, us);
    return sum;
}

static void *urgent_clerk(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)drain(&trays[0], 600);
}

static void *clerk(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)drain(&trays[1], 1100);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t urgent, *clerks = calloc((size_t)options.threads, sizeof *clerks);
    void *part;
    uint64_t sum = 0;
    pthread_create(&urgent, NULL, urgent_clerk, NULL);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&clerks[i], NULL, clerk, NULL);
    for (int i = 0; i < scaled(options, 420); i++) {
        sum += burn((uint64_t)i, 90);
        tray_put(&trays[i % 4 != 0], i);
    }
    tray_close(&trays[0]);
    tray_close(&trays[1]);
    pthread_join(urgent, &part);
    sum += (uint64_t)(uintptr_t)part;
    for (int i = 0; i < options.threads; i++) {
        pthread_join(clerks[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    free(clerks);
    print_result(sum);
    return 0;
}
