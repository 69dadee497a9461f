/* A bitmap of free scratch areas, one bit each; a thread waits while the map is zero. */
#include <pthread.h>

#include "support.h"

#define AREAS 5

static struct scratch_map {
    uint32_t bits; /* 1: free */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} map = {(1u << AREAS) - 1, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};

static uint64_t area[AREAS];

static int claim_area(struct scratch_map *m) {
    pthread_mutex_lock(&m->mutex);
    while (m->bits == 0)
        pthread_cond_wait(&m->cond, &m->mutex);
    int number = __builtin_ctz(m->bits);
    m->bits &= ~(1u << number);
    pthread_mutex_unlock(&m->mutex);
    return number;
}

static void release_area(struct scratch_map *m, int number) {
    pthread_mutex_lock(&m->mutex);
    m->bits |= 1u << number;
    pthread_cond_signal(&m->cond);
    pthread_mutex_unlock(&m->mutex);
}

struct task {
    int from, step, to;
    uint64_t sum;
};

static void *use_areas(void *argument) {
    struct task *task = argument;
    for (int i = task->from; i < task->to; i += task->step) {
        int a = claim_area(&map);
        area[a] = burn((uint64_t)i, 500);
        uint64_t value = burn(area[a], 600);
        release_area(&map, a);
        task->sum += burn(value, 150);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    struct task *tasks = calloc((size_t)n, sizeof *tasks);
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    for (int i = 0; i < n; i++) {
        tasks[i] = (struct task){i, n, scaled(options, 360), 0};
        pthread_create(&threads[i], NULL, use_areas, &tasks[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += tasks[i].sum;
    }
    free(threads);
    free(tasks);
    print_result(sum);
    return 0;
}
