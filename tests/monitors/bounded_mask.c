/* Free-running indices and a mask: in - out is the length, the capacity a power of two. The locking
 * hides in macros. */
#include <pthread.h>

#include "support.h"

#define FIFO_SIZE      16u
#define FIFO_MASK      (FIFO_SIZE - 1)
#define FIFO_LEN(f)    ((f)->in - (f)->out)
#define FIFO_LOCK(f)   pthread_mutex_lock(&(f)->lock)
#define FIFO_UNLOCK(f) pthread_mutex_unlock(&(f)->lock)
#define FIFO_SLEEP_WHILE(f, wq, expr)                                                              \
    do {                                                                                           \
        while (expr)                                                                               \
            pthread_cond_wait(&(f)->wq, &(f)->lock);                                               \
    } while (0)

struct fifo {
    uint32_t in, out;
    uint64_t data[FIFO_SIZE];
    pthread_mutex_t lock;
    pthread_cond_t rd_wait, wr_wait;
};

static struct fifo fifo = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .rd_wait = PTHREAD_COND_INITIALIZER,
    .wr_wait = PTHREAD_COND_INITIALIZER,
};

static void fifo_in(struct fifo *f, uint64_t v) {
    FIFO_LOCK(f);
    FIFO_SLEEP_WHILE(f, wr_wait, FIFO_LEN(f) >= FIFO_SIZE);
    f->data[f->in++ & FIFO_MASK] = v;
    FIFO_UNLOCK(f);
    pthread_cond_signal(&f->rd_wait);
}

static uint64_t fifo_out(struct fifo *f) {
    uint64_t v;

    FIFO_LOCK(f);
    FIFO_SLEEP_WHILE(f, rd_wait, FIFO_LEN(f) == 0);
    v = f->data[f->out++ & FIFO_MASK];
    FIFO_UNLOCK(f);
    pthread_cond_signal(&f->wr_wait);
    return v;
}

static void *handle_packets(void *arg) {
    uint64_t v, *bytes = arg;

    while ((v = fifo_out(&fifo)) != 0)
        *bytes += burn(v, 300);
    return NULL;
}

int main(int argc, char **argv) {
    struct options opt = read_options(argc, argv);
    int i, packets = scaled(opt, 1500);
    pthread_t *tids = calloc((size_t)opt.threads, sizeof(*tids));
    uint64_t *bytes = calloc((size_t)opt.threads, sizeof(*bytes)), sum = 0;

    for (i = 0; i < opt.threads; i++)
        pthread_create(&tids[i], NULL, handle_packets, &bytes[i]);
    for (i = 1; i <= packets; i++) {
        sum += burn((uint64_t)i, 70);
        fifo_in(&fifo, (uint64_t)i);
    }
    for (i = 0; i < opt.threads; i++)
        fifo_in(&fifo, 0);
    for (i = 0; i < opt.threads; i++) {
        pthread_join(tids[i], NULL);
        sum += bytes[i];
    }
    free(bytes);
    free(tids);
    print_result(sum);
    return 0;
}
