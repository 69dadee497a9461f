/* One command structure per worker; the command is carried out outside of its mutex. Main only
 * hands out the ranges of a step, waits for all of them, and adds up. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

typedef uint64_t range_fn(int first, int last);

typedef struct {
    pthread_t tid;
    pthread_mutex_t mtx;
    pthread_cond_t go, done;
    range_fn *fn; /* what to do; NULL: nothing */
    int first, last;
    bool exit;
    uint64_t result;
} Worker;

static uint64_t relax(int first, int last) {
    uint64_t sum = 0;
    for (int i = first; i < last; i++)
        sum += burn((uint64_t)i, 300);
    return sum;
}

static uint64_t residual(int first, int last) {
    uint64_t sum = 0;
    for (int i = first; i < last; i++)
        sum ^= burn((uint64_t)i + 1, 150);
    return sum;
}

static void *WorkerRun(void *p) {
    Worker *w = p;
    for (;;) {
        pthread_mutex_lock(&w->mtx);
        while (!w->fn && !w->exit)
            pthread_cond_wait(&w->go, &w->mtx);
        range_fn *fn = w->fn;
        pthread_mutex_unlock(&w->mtx);
        if (!fn)
            return NULL;
        uint64_t result = fn(w->first, w->last);
        pthread_mutex_lock(&w->mtx);
        w->result = result;
        w->fn = NULL;
        pthread_cond_signal(&w->done);
        pthread_mutex_unlock(&w->mtx);
    }
}

static void WorkerStart(Worker *w, range_fn *fn, int first, int last) {
    pthread_mutex_lock(&w->mtx);
    w->fn = fn;
    w->first = first;
    w->last = last;
    pthread_cond_signal(&w->go);
    pthread_mutex_unlock(&w->mtx);
}

static uint64_t WorkerResult(Worker *w) {
    pthread_mutex_lock(&w->mtx);
    while (w->fn)
        pthread_cond_wait(&w->done, &w->mtx);
    uint64_t result = w->result;
    pthread_mutex_unlock(&w->mtx);
    return result;
}

#define CELLS 60

int main(int argc, char **argv) {
    struct options o = read_options(argc, argv);
    Worker *workers = calloc((size_t)o.threads, sizeof(Worker));
    for (int i = 0; i < o.threads; i++) {
        pthread_mutex_init(&workers[i].mtx, NULL);
        pthread_cond_init(&workers[i].go, NULL);
        pthread_cond_init(&workers[i].done, NULL);
        pthread_create(&workers[i].tid, NULL, WorkerRun, &workers[i]);
    }
    uint64_t sum = 0;
    for (int step = 0; step < scaled(o, 36); step++) {
        range_fn *fn = step % 2 ? residual : relax;
        for (int i = 0; i < o.threads; i++)
            WorkerStart(&workers[i], fn, CELLS * i / o.threads, CELLS * (i + 1) / o.threads);
        for (int i = 0; i < o.threads; i++) {
            uint64_t part = WorkerResult(&workers[i]);
            sum = step % 2 ? sum ^ part : sum + part;
        }
    }
    for (int i = 0; i < o.threads; i++) {
        pthread_mutex_lock(&workers[i].mtx);
        workers[i].exit = true;
        pthread_cond_signal(&workers[i].go);
        pthread_mutex_unlock(&workers[i].mtx);
        pthread_join(workers[i].tid, NULL);
    }
    free(workers);
    print_result(sum);
    return 0;
}
