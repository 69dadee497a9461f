/* A wait group in the manner of Go: add, done, wait; one goroutine-like thread per part, detached.
 */
#include <pthread.h>

#include "support.h"

typedef struct wait_group {
    pthread_mutex_t mu;
    pthread_cond_t cv;
    long n;
} wait_group;

#define WAIT_GROUP_INIT                                                                            \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static void wg_add(wait_group *wg, long delta) {
    pthread_mutex_lock(&wg->mu);
    wg->n += delta;
    if (wg->n == 0)
        pthread_cond_broadcast(&wg->cv);
    pthread_mutex_unlock(&wg->mu);
}

static void wg_done(wait_group *wg) {
    wg_add(wg, -1);
}

static void wg_wait(wait_group *wg) {
    pthread_mutex_lock(&wg->mu);
    while (wg->n > 0)
        pthread_cond_wait(&wg->cv, &wg->mu);
    pthread_mutex_unlock(&wg->mu);
}

typedef struct {
    wait_group *wg;
    int from, to;
    uint64_t sum;
} span;

static void *crunch(void *p) {
    span *s = p;
    for (int i = s->from; i < s->to; i++)
        s->sum += burn((uint64_t)i, 900);
    wg_done(s->wg);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, total = scaled(options, 500);
    wait_group wg = WAIT_GROUP_INIT;
    span *spans = calloc((size_t)n, sizeof *spans);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < n; i++) {
        pthread_t id;
        spans[i] = (span){&wg, total * i / n, total * (i + 1) / n, 0};
        wg_add(&wg, 1);
        pthread_create(&id, &attr, crunch, &spans[i]);
    }
    pthread_attr_destroy(&attr);
    wg_wait(&wg);
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += spans[i].sum;
    free(spans);
    print_result(sum);
    return 0;
}
