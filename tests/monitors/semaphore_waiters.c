/* A semaphore that counts its waiters and signals only when there are some; P and V are macros. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

typedef struct ksem {
    pthread_mutex_t ks_mtx;
    pthread_cond_t ks_cv;
    int ks_value;
    int ks_waiters;
} ksem_t;

#define KSEM_INITIALIZER(n)                                                                        \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, (n), 0 }
#define KSEM_P(ks)                                                                                 \
    do {                                                                                           \
        pthread_mutex_lock(&(ks)->ks_mtx);                                                         \
        (ks)->ks_waiters++;                                                                        \
        while ((ks)->ks_value == 0)                                                                \
            pthread_cond_wait(&(ks)->ks_cv, &(ks)->ks_mtx);                                        \
        (ks)->ks_waiters--;                                                                        \
        (ks)->ks_value--;                                                                          \
        pthread_mutex_unlock(&(ks)->ks_mtx);                                                       \
    } while (0)
#define KSEM_V(ks)                                                                                 \
    do {                                                                                           \
        pthread_mutex_lock(&(ks)->ks_mtx);                                                         \
        (ks)->ks_value++;                                                                          \
        if ((ks)->ks_waiters > 0)                                                                  \
            pthread_cond_signal(&(ks)->ks_cv);                                                     \
        pthread_mutex_unlock(&(ks)->ks_mtx);                                                       \
    } while (0)

static ksem_t channels = KSEM_INITIALIZER(2);
static atomic_int next_io;
static int ios;

static void *strategy(void *arg) {
    uint64_t *acc = arg;
    int io;

    while ((io = atomic_fetch_add(&next_io, 1)) < ios) {
        uint64_t blk = burn((uint64_t)io, 500);
        KSEM_P(&channels);
        *acc += burn(blk, 450);
        KSEM_V(&channels);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options opt = read_options(argc, argv);
    pthread_t *td;
    uint64_t *acc, sum = 0;
    int i;

    ios = scaled(opt, 560);
    td = calloc((size_t)opt.threads, sizeof(*td));
    acc = calloc((size_t)opt.threads, sizeof(*acc));
    for (i = 0; i < opt.threads; i++)
        pthread_create(&td[i], NULL, strategy, &acc[i]);
    for (i = 0; i < opt.threads; i++) {
        pthread_join(td[i], NULL);
        sum += acc[i];
    }
    free(acc);
    free(td);
    print_result(sum);
    return 0;
}
