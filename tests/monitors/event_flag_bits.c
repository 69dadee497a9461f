/* Event flags as in small real-time kernels: a word of bits, a task waits for all bits that it
 * names. Each stage of start-up sets its bit; nothing clears them. */
#include <pthread.h>

#include "support.h"

#define EV_CLOCK  0x01u
#define EV_TABLES 0x02u
#define EV_DRIVER 0x04u

typedef struct {
    pthread_mutex_t mu;
    pthread_cond_t cv;
    uint32_t bits;
} event_group;

static event_group boot = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void event_group_set(event_group *g, uint32_t bits) {
    pthread_mutex_lock(&g->mu);
    g->bits |= bits;
    pthread_mutex_unlock(&g->mu);
    pthread_cond_broadcast(&g->cv);
}

static void event_group_wait_all(event_group *g, uint32_t bits) {
    pthread_mutex_lock(&g->mu);
    while ((g->bits & bits) != bits)
        pthread_cond_wait(&g->cv, &g->mu);
    pthread_mutex_unlock(&g->mu);
}

static int tasks, samples;

static void *task(void *arg) {
    int id = (int)(intptr_t)arg;
    uint64_t acc = 0;
    for (int i = id; i < samples; i += tasks)
        acc += burn((uint64_t)i, 200);
    event_group_wait_all(&boot, EV_CLOCK | EV_TABLES);
    for (int i = id; i < samples; i += tasks)
        acc += burn((uint64_t)i + 1, 500);
    event_group_wait_all(&boot, EV_DRIVER);
    for (int i = id; i < samples; i += tasks)
        acc += burn((uint64_t)i + 2, 500);
    return (void *)(uintptr_t)acc;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    tasks = options.threads;
    samples = scaled(options, 300);
    pthread_t ids[tasks];
    for (int i = 0; i < tasks; i++)
        pthread_create(&ids[i], NULL, task, (void *)(intptr_t)i);
    unsigned stage_us = (unsigned)scaled(options, 60000);
    uint64_t sum = burn(1, stage_us / 2);
    event_group_set(&boot, EV_CLOCK);
    sum += burn(2, stage_us);
    event_group_set(&boot, EV_TABLES);
    sum += burn(3, 2 * stage_us);
    event_group_set(&boot, EV_DRIVER);
    for (int i = 0; i < tasks; i++) {
        void *acc;
        pthread_join(ids[i], &acc);
        sum += (uint64_t)(uintptr_t)acc;
    }
    print_result(sum);
    return 0;
}
