/* Free request ids go round in a ring; C11 threads; the id table is an opaque type with functions.
 */
#include <stdatomic.h>
#include <threads.h>

#include "support.h"

typedef struct idtab idtab;

struct idtab {
    mtx_t mtx;
    cnd_t cnd;
    unsigned size, free, rd, wr;
    unsigned ids[];
};

static idtab *idtab_new(unsigned size) {
    idtab *tab = malloc(sizeof *tab + size * sizeof tab->ids[0]);
    mtx_init(&tab->mtx, mtx_plain);
    cnd_init(&tab->cnd);
    tab->size = tab->free = size;
    tab->rd = tab->wr = 0;
    for (unsigned i = 0; i < size; i++)
        tab->ids[i] = i;
    return tab;
}

static unsigned idtab_take(idtab *tab) {
    mtx_lock(&tab->mtx);
    while (!tab->free)
        cnd_wait(&tab->cnd, &tab->mtx);
    unsigned id = tab->ids[tab->rd++ % tab->size];
    tab->free--;
    mtx_unlock(&tab->mtx);
    return id;
}

static void idtab_give(idtab *tab, unsigned id) {
    mtx_lock(&tab->mtx);
    tab->ids[tab->wr++ % tab->size] = id;
    tab->free++;
    cnd_signal(&tab->cnd);
    mtx_unlock(&tab->mtx);
}

static idtab *ids;
static uint64_t in_flight[6];
static atomic_int next_request;
static int requests;

static int issue(void *arg) {
    uint64_t *sum = arg;
    int r;
    while ((r = atomic_fetch_add(&next_request, 1)) < requests) {
        unsigned id = idtab_take(ids);
        in_flight[id] = burn((uint64_t)r, 650);
        *sum += burn(in_flight[id], 350);
        idtab_give(ids, id);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    thrd_t *thr = calloc((size_t)options.threads, sizeof *thr);
    uint64_t *sums = calloc((size_t)options.threads, sizeof *sums), sum = 0;
    requests = scaled(options, 520);
    ids = idtab_new(6);
    for (int i = 0; i < options.threads; i++)
        thrd_create(&thr[i], issue, &sums[i]);
    for (int i = 0; i < options.threads; i++) {
        thrd_join(thr[i], NULL);
        sum += sums[i];
    }
    free(ids);
    free(sums);
    free(thr);
    print_result(sum);
    return 0;
}
