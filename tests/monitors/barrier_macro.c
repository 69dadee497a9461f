/* The classic macros of parallel benchmark suites: the barrier's body is pasted wherever it is
 * used, `cycle` is kept in a local, cancellation is off while waiting. */
#include <pthread.h>

#include "support.h"

#define BARRIER_DEC(b)                                                                             \
    static struct {                                                                                \
        pthread_mutex_t mutex;                                                                     \
        pthread_cond_t cv;                                                                         \
        unsigned long counter;                                                                     \
        unsigned long cycle;                                                                       \
    } b
#define BARRIER_INIT(b)                                                                            \
    do {                                                                                           \
        pthread_mutex_init(&(b).mutex, NULL);                                                      \
        pthread_cond_init(&(b).cv, NULL);                                                          \
        (b).counter = (b).cycle = 0;                                                               \
    } while (0)
#define BARRIER(b, p)                                                                              \
    do {                                                                                           \
        int old_state, ignored;                                                                    \
        pthread_mutex_lock(&(b).mutex);                                                            \
        unsigned long cycle = (b).cycle;                                                           \
        if (++(b).counter != (p)) {                                                                \
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old_state);                            \
            while (cycle == (b).cycle)                                                             \
                if (pthread_cond_wait(&(b).cv, &(b).mutex) != 0)                                   \
                    break;                                                                         \
            pthread_setcancelstate(old_state, &ignored);                                           \
        } else {                                                                                   \
            (b).cycle = !(b).cycle;                                                                \
            (b).counter = 0;                                                                       \
            pthread_cond_broadcast(&(b).cv);                                                       \
        }                                                                                          \
        pthread_mutex_unlock(&(b).mutex);                                                          \
    } while (0)

#define N 36

BARRIER_DEC(step_done);
static unsigned long P;
static int time_steps;
static uint64_t force[N], position[N];

static void *slave_start(void *arg) {
    unsigned long my_id = (unsigned long)(uintptr_t)arg;

    for (int t = 0; t < time_steps; t++) {
        for (unsigned long i = my_id; i < N; i += P)
            force[i] = burn(position[i] + position[(i + 7) % N], 110);
        BARRIER(step_done, P);
        for (unsigned long i = my_id; i < N; i += P)
            position[i] = burn(force[i], 60);
        BARRIER(step_done, P);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    P = (unsigned long)options.threads;
    time_steps = scaled(options, 90);
    pthread_t *slaves = calloc(P, sizeof(pthread_t));
    BARRIER_INIT(step_done);
    for (unsigned long i = 0; i < P; i++)
        pthread_create(&slaves[i], NULL, slave_start, (void *)(uintptr_t)i);
    for (unsigned long i = 0; i < P; i++)
        pthread_join(slaves[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < N; i++)
        sum += position[i];
    free(slaves);
    print_result(sum);
    return 0;
}
