/* A thread that hands half of its threads to a new one, which does the same. */
#include <pthread.h>
#include <stdlib.h>

struct half {
    int *items;
    size_t count, threads;
};

static void sort_part(int *items, size_t count, size_t threads, size_t depth);

static void *sort_half(void *arg) {
    struct half *half = arg;
    sort_part(half->items, half->count, half->threads, 0);
    return NULL;
}

static void sort_part(int *items, size_t count, size_t threads, size_t depth) {
    size_t lower = threads / 2;
    size_t upper = threads - lower;
    struct half half = {items, count / 2, lower};
    pthread_t thread;
    if (threads > 1 && count > 100 &&
        pthread_create(&thread, NULL, sort_half, &half) == 0) { //= spawned parts sort_half
        sort_part(items + count / 2, count - count / 2, upper, depth + 1);
        pthread_join(thread, NULL);
    }
}

struct range {
    size_t first, threads;
};

static void *serve_range(void *arg);

/* Threads that each serve alone, with a number of their own: creating them is divided, no work is.
 */
static void serve(size_t first, size_t threads) {
    size_t half = threads / 2;
    struct range lower = {first, half};
    pthread_t thread;
    if (threads > 1 &&
        pthread_create(&thread, NULL, serve_range, &lower) == 0) { //= spawned threads serve_range
        serve(first + half, threads - half);
        pthread_join(thread, NULL);
    }
}

static void *serve_range(void *arg) {
    struct range *range = arg;
    serve(range->first, range->threads);
    return NULL;
}

static void *scan_half(void *arg);

/* Halves what there is to do, until little is left: that is no number of threads. */
static void scan(struct half *part) {
    struct half upper = {part->items + part->count / 2, part->count - part->count / 2, 0};
    pthread_t thread;
    if (part->count < 1000)
        return;
    pthread_create(&thread, NULL, scan_half, &upper); //= spawned one scan_half
    part->count /= 2;
    scan(part);
    pthread_join(thread, NULL);
}

static void *scan_half(void *arg) {
    scan(arg);
    return NULL;
}

static int alive = 1, most_alive;

static void *fold_rest(void *arg);

/* Hands one half on while fewer threads than the limit are alive, and folds it itself else. */
static void fold(struct half *part) {
    struct half upper = {part->items + part->count / 2, part->count - part->count / 2, 0};
    pthread_t thread;
    if (part->count < 1000)
        return;
    part->count /= 2;
    if (__atomic_fetch_add(&alive, 1, __ATOMIC_SEQ_CST) < most_alive) {
        pthread_create(&thread, NULL, fold_rest, &upper); //= spawned parts fold_rest
        fold(part);
        pthread_join(thread, NULL);
        return;
    }
    __atomic_fetch_sub(&alive, 1, __ATOMIC_SEQ_CST);
    fold(part);
    fold(&upper);
}

static void *fold_rest(void *arg) {
    fold(arg);
    __atomic_fetch_sub(&alive, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(int argc, char **argv) {
    size_t workers = argc > 1 ? strtoul(argv[1], NULL, 10) : 2;
    size_t count = 100000;
    int *items = calloc(count, sizeof *items);
    sort_part(items, count, workers, 0);
    serve(0, workers);
    struct half all = {items, count, 0};
    scan(&all);
    most_alive = (int)workers;
    fold(&all);
    free(items);
    return 0;
}
