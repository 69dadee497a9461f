/* Macros of old benchmark suites, in which whoever is woken need not look again: the last one
 * resets the counter and wakes the others. Each step has a barrier of its own in the text, all of
 * them the same one; main is one of the threads, and each takes its number itself. */
#include <pthread.h>

#include "support.h"

#define BARDEC(b)                                                                                  \
    struct {                                                                                       \
        pthread_mutex_t bar_lock;                                                                  \
        pthread_cond_t bar_open;                                                                   \
        unsigned bar_count;                                                                        \
    } b
#define BARINIT(b)                                                                                 \
    do {                                                                                           \
        pthread_mutex_init(&(b).bar_lock, NULL);                                                   \
        pthread_cond_init(&(b).bar_open, NULL);                                                    \
        (b).bar_count = 0;                                                                         \
    } while (0)
#define BARRIER(b, p)                                                                              \
    do {                                                                                           \
        pthread_mutex_lock(&(b).bar_lock);                                                         \
        (b).bar_count++;                                                                           \
        if ((b).bar_count == (unsigned)(p)) {                                                      \
            (b).bar_count = 0;                                                                     \
            pthread_cond_broadcast(&(b).bar_open);                                                 \
        } else {                                                                                   \
            pthread_cond_wait(&(b).bar_open, &(b).bar_lock);                                       \
        }                                                                                          \
        pthread_mutex_unlock(&(b).bar_lock);                                                       \
    } while (0)

#define N 48

static struct {
    pthread_mutex_t id_lock;
    long next_id;
    BARDEC(step);
} global;
static long P;
static int scale;
static uint64_t real[N], image[N], sums[N];

static long owner(long column) {
    return column * P / N;
}

static void fill(uint64_t *target, const uint64_t *source, long me, int effort) {
    for (long i = 0; i < N; i++)
        if (owner(i) == me)
            target[i] = burn(source[(i * 5 + 1) % N], effort * scale);
}

static void transform(long me) {
    fill(image, real, me, 9);
    BARRIER(global.step, P);
    fill(real, image, me, 6);
    BARRIER(global.step, P);
    fill(image, real, me, 12);
    BARRIER(global.step, P);
    fill(sums, image, me, 4);
    BARRIER(global.step, P);
    fill(real, sums, me, 8);
    BARRIER(global.step, P);
}

static void *slave_start(void *unused) {
    (void)unused;
    pthread_mutex_lock(&global.id_lock);
    long me = global.next_id;
    global.next_id++;
    pthread_mutex_unlock(&global.id_lock);
    BARRIER(global.step, P);
    fill(real, sums, me, 5);
    BARRIER(global.step, P);
    transform(me);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    P = options.threads;
    scale = scaled(options, 260);
    pthread_t *slaves = calloc((size_t)P, sizeof(pthread_t));
    pthread_mutex_init(&global.id_lock, NULL);
    BARINIT(global.step);
    for (long i = 0; i < N; i++)
        sums[i] = (uint64_t)i;
    for (long i = 0; i < P - 1; i++)
        pthread_create(&slaves[i], NULL, slave_start, NULL);
    slave_start(NULL);
    for (long i = 0; i < P - 1; i++)
        pthread_join(slaves[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < N; i++)
        sum += real[i];
    free(slaves);
    print_result(sum);
    return 0;
}
