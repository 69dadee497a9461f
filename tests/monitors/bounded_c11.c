/* C11 threads. The length is compared with a capacity from a constructor's argument. */
#include <stdbool.h>
#include <threads.h>

#include "support.h"

typedef struct {
    mtx_t mtx;
    cnd_t put_ok, get_ok;
    size_t cap, len, pos;
    bool done;
    uint32_t *ring;
} chan_t;

static bool chan_init(chan_t *ch, size_t cap) {
    *ch = (chan_t){.cap = cap, .ring = calloc(cap, sizeof(uint32_t))};
    return ch->ring != NULL && mtx_init(&ch->mtx, mtx_plain) == thrd_success &&
           cnd_init(&ch->put_ok) == thrd_success && cnd_init(&ch->get_ok) == thrd_success;
}

static void chan_put(chan_t *ch, uint32_t value) {
    mtx_lock(&ch->mtx);
    while (ch->len == ch->cap)
        cnd_wait(&ch->put_ok, &ch->mtx);
    ch->ring[(ch->pos + ch->len++) % ch->cap] = value;
    cnd_signal(&ch->get_ok);
    mtx_unlock(&ch->mtx);
}

static bool chan_get(chan_t *ch, uint32_t *value) {
    mtx_lock(&ch->mtx);
    while (ch->len == 0 && !ch->done)
        cnd_wait(&ch->get_ok, &ch->mtx);
    bool ok = ch->len > 0;
    if (ok) {
        *value = ch->ring[ch->pos];
        ch->pos = (ch->pos + 1) % ch->cap;
        ch->len--;
        cnd_signal(&ch->put_ok);
    }
    mtx_unlock(&ch->mtx);
    return ok;
}

static void chan_close(chan_t *ch) {
    mtx_lock(&ch->mtx);
    ch->done = true;
    cnd_broadcast(&ch->get_ok);
    mtx_unlock(&ch->mtx);
}

static chan_t words;

static int count_words(void *arg) {
    uint64_t *n = arg;
    for (uint32_t w; chan_get(&words, &w);)
        *n += burn(w, 600);
    return 0;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    size_t n = (size_t)options.threads;
    thrd_t *threads = calloc(n, sizeof *threads);
    uint64_t *counts = calloc(n, sizeof *counts), sum = 0;
    if (!chan_init(&words, 5))
        return 1;
    for (size_t i = 0; i < n; i++)
        thrd_create(&threads[i], count_words, &counts[i]);
    for (int i = 0, end = scaled(options, 760); i < end; i++) {
        sum += burn((uint64_t)i, 110);
        chan_put(&words, (uint32_t)i);
    }
    chan_close(&words);
    for (size_t i = 0; i < n; i++) {
        thrd_join(threads[i], NULL);
        sum += counts[i];
    }
    free(words.ring);
    free(counts);
    free(threads);
    print_result(sum);
    return 0;
}
