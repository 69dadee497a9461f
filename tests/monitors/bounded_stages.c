/* An assembly line: every station is a structure with a tray in front of it, and the same function
 * runs the crews of all stations; the last of a crew to go home closes the next station's tray. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define TRAY_SIZE 5
#define STATIONS  3

struct station {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    int tray[TRAY_SIZE];
    int n_parts;
    bool no_more;
    int crew; /* still at work; under the lock */
    unsigned us;
    struct station *next;
    uint64_t sum;
};

static void hand_over(struct station *s, int part) {
    pthread_mutex_lock(&s->lock);
    while (s->n_parts == TRAY_SIZE)
        pthread_cond_wait(&s->emptied, &s->lock);
    s->tray[s->n_parts++] = part;
    pthread_cond_signal(&s->filled);
    pthread_mutex_unlock(&s->lock);
}

static void close_tray(struct station *s) {
    pthread_mutex_lock(&s->lock);
    s->no_more = true;
    pthread_cond_broadcast(&s->filled);
    pthread_mutex_unlock(&s->lock);
}

/* -1: there are no more. */
static int pick_up(struct station *s) {
    int part = -1;
    pthread_mutex_lock(&s->lock);
    while (s->n_parts == 0 && !s->no_more)
        pthread_cond_wait(&s->filled, &s->lock);
    if (s->n_parts > 0) {
        part = s->tray[--s->n_parts];
        pthread_cond_signal(&s->emptied);
    }
    pthread_mutex_unlock(&s->lock);
    return part;
}

static void *work_at(void *argument) {
    struct station *s = argument;
    uint64_t sum = 0;
    for (int part; (part = pick_up(s)) >= 0;) {
        sum += burn((uint64_t)part, s->us);
        if (s->next)
            hand_over(s->next, part);
    }
    __atomic_add_fetch(&s->sum, sum, __ATOMIC_RELAXED);
    if (__atomic_sub_fetch(&s->crew, 1, __ATOMIC_ACQ_REL) == 0 && s->next)
        close_tray(s->next);
    return NULL;
}

int main(int argc, char **argv) {
    static const unsigned us[STATIONS] = {400, 900, 300};
    struct options options = read_options(argc, argv);
    struct station line[STATIONS] = {0};
    pthread_t *crew = calloc((size_t)options.threads * STATIONS, sizeof *crew);
    size_t n = 0;
    uint64_t sum = 0;

    for (int i = 0; i < STATIONS; i++) {
        pthread_mutex_init(&line[i].lock, NULL);
        pthread_cond_init(&line[i].filled, NULL);
        pthread_cond_init(&line[i].emptied, NULL);
        line[i].us = us[i];
        line[i].crew = options.threads;
        line[i].next = i + 1 < STATIONS ? &line[i + 1] : NULL;
    }
    for (int i = 0; i < STATIONS; i++)
        for (int t = 0; t < options.threads; t++)
            pthread_create(&crew[n++], NULL, work_at, &line[i]);
    for (int part = 0; part < scaled(options, 320); part++)
        hand_over(&line[0], part);
    close_tray(&line[0]);
    for (size_t i = 0; i < n; i++)
        pthread_join(crew[i], NULL);
    for (int i = 0; i < STATIONS; i++)
        sum += line[i].sum;
    print_result(sum);
    free(crew);
    return 0;
}
