/* Old-fashioned: labels and goto instead of loops, a return code, a capacity from a variable. */
#include <errno.h>
#include <pthread.h>

#include "support.h"

static int depth = 3;

static struct {
    pthread_mutex_t mtx;
    pthread_cond_t cv_data, cv_space;
    int cnt, rd, wr, eof;
    uint64_t *cell;
} pipe_;

static void put_cell(uint64_t v) {
    pthread_mutex_lock(&pipe_.mtx);
again:
    if (pipe_.cnt >= depth) {
        pthread_cond_wait(&pipe_.cv_space, &pipe_.mtx);
        goto again;
    }
    pipe_.cell[pipe_.wr] = v;
    if (++pipe_.wr >= depth)
        pipe_.wr = 0;
    pipe_.cnt++;
    pthread_cond_signal(&pipe_.cv_data);
    pthread_mutex_unlock(&pipe_.mtx);
}

static int get_cell(uint64_t *v) {
    int rc = 0;

    pthread_mutex_lock(&pipe_.mtx);
retry:
    if (pipe_.cnt > 0)
        goto found;
    if (pipe_.eof) {
        rc = ENODATA;
        goto out;
    }
    pthread_cond_wait(&pipe_.cv_data, &pipe_.mtx);
    goto retry;
found:
    *v = pipe_.cell[pipe_.rd];
    if (++pipe_.rd >= depth)
        pipe_.rd = 0;
    pipe_.cnt--;
    pthread_cond_signal(&pipe_.cv_space);
out:
    pthread_mutex_unlock(&pipe_.mtx);
    return rc;
}

static void *reader(void *p) {
    uint64_t v, *total = p;

    while (get_cell(&v) == 0)
        *total += burn(v, 1000);
    return NULL;
}

int main(int argc, char **argv) {
    struct options opt = read_options(argc, argv);
    pthread_t *t;
    uint64_t *totals, sum = 0;
    int i, n = opt.threads;

    pthread_mutex_init(&pipe_.mtx, NULL);
    pthread_cond_init(&pipe_.cv_data, NULL);
    pthread_cond_init(&pipe_.cv_space, NULL);
    pipe_.cell = calloc((size_t)depth, sizeof(uint64_t));
    t = calloc((size_t)n, sizeof(*t));
    totals = calloc((size_t)n, sizeof(*totals));
    for (i = 0; i < n; i++)
        pthread_create(&t[i], NULL, reader, &totals[i]);
    for (i = 0; i < scaled(opt, 450); i++)
        put_cell(burn((uint64_t)i, 140));
    pthread_mutex_lock(&pipe_.mtx);
    pipe_.eof = 1;
    pthread_mutex_unlock(&pipe_.mtx);
    pthread_cond_broadcast(&pipe_.cv_data);
    for (i = 0; i < n; i++) {
        pthread_join(t[i], NULL);
        sum += totals[i];
    }
    free(totals);
    free(t);
    free(pipe_.cell);
    print_result(sum);
    return 0;
}
