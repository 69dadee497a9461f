/* C11 threads; readers wait also for writers in the queue, writers have a condition of their own.
 */
#include <stdbool.h>
#include <threads.h>

#include "support.h"

typedef struct {
    mtx_t m;
    cnd_t readers_cv, writer_cv;
    int n_readers;
    int writers_queued;
    bool writer;
} rwl;

static rwl cfg;
static uint64_t settings;

static void rwl_rdlock(rwl *l) {
    mtx_lock(&l->m);
    while (l->writer || l->writers_queued)
        cnd_wait(&l->readers_cv, &l->m);
    l->n_readers++;
    mtx_unlock(&l->m);
}

static void rwl_rdunlock(rwl *l) {
    mtx_lock(&l->m);
    bool last = --l->n_readers == 0;
    mtx_unlock(&l->m);
    if (last)
        cnd_signal(&l->writer_cv);
}

static void rwl_wrlock(rwl *l) {
    mtx_lock(&l->m);
    l->writers_queued++;
    while (l->writer || l->n_readers)
        cnd_wait(&l->writer_cv, &l->m);
    l->writers_queued--;
    l->writer = true;
    mtx_unlock(&l->m);
}

static void rwl_wrunlock(rwl *l) {
    mtx_lock(&l->m);
    l->writer = false;
    bool more = l->writers_queued > 0;
    mtx_unlock(&l->m);
    if (more)
        cnd_signal(&l->writer_cv);
    else
        cnd_broadcast(&l->readers_cv);
}

struct reader {
    thrd_t thread;
    int first, end;
    uint64_t sum;
};

static int serve(void *argument) {
    struct reader *r = argument;
    for (int i = r->first; i < r->end; i++) {
        rwl_rdlock(&cfg);
        r->sum += burn((uint64_t)i, 400);
        rwl_rdunlock(&cfg);
        r->sum += burn((uint64_t)i + 1, 350);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, requests = scaled(options, 520);
    struct reader *readers = calloc((size_t)n, sizeof *readers);
    mtx_init(&cfg.m, mtx_plain);
    cnd_init(&cfg.readers_cv);
    cnd_init(&cfg.writer_cv);
    for (int i = 0; i < n; i++) {
        readers[i].first = requests * i / n;
        readers[i].end = requests * (i + 1) / n;
        thrd_create(&readers[i].thread, serve, &readers[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < scaled(options, 25); i++) {
        sum += burn((uint64_t)i, 3000);
        rwl_wrlock(&cfg);
        settings += burn((uint64_t)i, 1500);
        rwl_wrunlock(&cfg);
    }
    for (int i = 0; i < n; i++) {
        thrd_join(readers[i].thread, NULL);
        sum += readers[i].sum;
    }
    free(readers);
    print_result(sum + settings);
    return 0;
}
