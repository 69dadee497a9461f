/* Slices of a picture: those that are done are counted upwards and compared with their number. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

typedef struct SliceContext {
    atomic_int next_slice; /* of the current picture */
    int nb_slices;
    pthread_mutex_t done_lock;
    pthread_cond_t done_cond;
    int done;
    atomic_uint_fast64_t checksum;
} SliceContext;

static SliceContext ctx;
static pthread_barrier_t picture_start; /* the library's */
static int nb_pictures;

static void report_slice(SliceContext *c) {
    pthread_mutex_lock(&c->done_lock);
    c->done++;
    if (c->done == c->nb_slices)
        pthread_cond_signal(&c->done_cond);
    pthread_mutex_unlock(&c->done_lock);
}

static void wait_slices(SliceContext *c) {
    pthread_mutex_lock(&c->done_lock);
    while (c->done < c->nb_slices)
        pthread_cond_wait(&c->done_cond, &c->done_lock);
    c->done = 0;
    pthread_mutex_unlock(&c->done_lock);
}

static void *slice_worker(void *unused) {
    for (int picture = 0; picture < nb_pictures; picture++) {
        int slice;
        pthread_barrier_wait(&picture_start);
        while ((slice = atomic_fetch_add(&ctx.next_slice, 1)) < ctx.nb_slices) {
            uint64_t value = burn((uint64_t)(picture * ctx.nb_slices + slice), 350);
            atomic_fetch_add(&ctx.checksum, value);
            report_slice(&ctx);
        }
        pthread_barrier_wait(&picture_start);
    }
    return unused;
}

int main(int argc, char **argv) {
    struct options o = read_options(argc, argv);
    pthread_t *workers = calloc((size_t)o.threads, sizeof(*workers));
    uint64_t header = 0;

    nb_pictures = scaled(o, 50);
    ctx.nb_slices = 24;
    pthread_mutex_init(&ctx.done_lock, NULL);
    pthread_cond_init(&ctx.done_cond, NULL);
    pthread_barrier_init(&picture_start, NULL, (unsigned)o.threads + 1);
    for (int i = 0; i < o.threads; i++)
        pthread_create(&workers[i], NULL, slice_worker, NULL);
    for (int picture = 0; picture < nb_pictures; picture++) {
        header += burn((uint64_t)picture, 600);
        atomic_store(&ctx.next_slice, 0);
        pthread_barrier_wait(&picture_start);
        wait_slices(&ctx);
        header += burn((uint64_t)picture, 400);
        pthread_barrier_wait(&picture_start);
    }
    for (int i = 0; i < o.threads; i++)
        pthread_join(workers[i], NULL);
    pthread_barrier_destroy(&picture_start);
    free(workers);
    print_result(header + atomic_load(&ctx.checksum));
    return 0;
}
