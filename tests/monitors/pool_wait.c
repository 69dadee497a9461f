/* A pool with a wait for idleness: the workers are counted while they run a task, main submits a
 * round of tasks and waits until the list is empty and nobody works. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

typedef void (*thread_func_t)(void *arg);

typedef struct tpool_work {
    thread_func_t func;
    void *arg;
    struct tpool_work *next;
} tpool_work_t;

typedef struct tpool {
    tpool_work_t *work_first, *work_last;
    pthread_mutex_t work_mutex;
    pthread_cond_t work_cond, working_cond;
    size_t working_cnt, thread_cnt;
    bool stop;
} tpool_t;

static tpool_work_t *tpool_work_get(tpool_t *tm) {
    tpool_work_t *work = tm->work_first;
    if (work == NULL)
        return NULL;
    tm->work_first = work->next;
    if (tm->work_first == NULL)
        tm->work_last = NULL;
    return work;
}

static void *tpool_worker(void *arg) {
    tpool_t *tm = arg;

    for (;;) {
        pthread_mutex_lock(&tm->work_mutex);
        while (tm->work_first == NULL && !tm->stop)
            pthread_cond_wait(&tm->work_cond, &tm->work_mutex);
        if (tm->stop)
            break;
        tpool_work_t *work = tpool_work_get(tm);
        tm->working_cnt++;
        pthread_mutex_unlock(&tm->work_mutex);

        work->func(work->arg);
        free(work);

        pthread_mutex_lock(&tm->work_mutex);
        tm->working_cnt--;
        if (!tm->stop && tm->working_cnt == 0 && tm->work_first == NULL)
            pthread_cond_signal(&tm->working_cond);
        pthread_mutex_unlock(&tm->work_mutex);
    }
    pthread_mutex_unlock(&tm->work_mutex);
    return NULL;
}

static void tpool_add_work(tpool_t *tm, thread_func_t func, void *arg) {
    tpool_work_t *work = malloc(sizeof(*work));
    *work = (tpool_work_t){func, arg, NULL};
    pthread_mutex_lock(&tm->work_mutex);
    if (tm->work_first == NULL)
        tm->work_first = work;
    else
        tm->work_last->next = work;
    tm->work_last = work;
    pthread_cond_broadcast(&tm->work_cond);
    pthread_mutex_unlock(&tm->work_mutex);
}

static void tpool_wait(tpool_t *tm) {
    pthread_mutex_lock(&tm->work_mutex);
    while (tm->work_first != NULL || tm->working_cnt != 0)
        pthread_cond_wait(&tm->working_cond, &tm->work_mutex);
    pthread_mutex_unlock(&tm->work_mutex);
}

static void grow(void *arg) {
    uint64_t *cell = arg;
    *cell = burn(*cell, 500);
}

static void shrink(void *arg) {
    uint64_t *cell = arg;
    *cell = burn(*cell ^ 1, 800);
}

#define CELLS 30

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    tpool_t tm = {.work_mutex = PTHREAD_MUTEX_INITIALIZER,
                  .work_cond = PTHREAD_COND_INITIALIZER,
                  .working_cond = PTHREAD_COND_INITIALIZER,
                  .thread_cnt = (size_t)options.threads};
    pthread_t *threads = calloc(tm.thread_cnt, sizeof(pthread_t));
    uint64_t cells[CELLS] = {0}, sum = 0;

    for (size_t i = 0; i < tm.thread_cnt; i++)
        pthread_create(&threads[i], NULL, tpool_worker, &tm);
    for (int round = 0; round < scaled(options, 24); round++) {
        for (int i = 0; i < CELLS; i++)
            tpool_add_work(&tm, (i + round) % 3 ? grow : shrink, &cells[i]);
        tpool_wait(&tm);
        for (int i = 0; i < CELLS; i++)
            sum += cells[i];
        sum = burn(sum, 1200);
    }
    pthread_mutex_lock(&tm.work_mutex);
    tm.stop = true;
    pthread_cond_broadcast(&tm.work_cond);
    pthread_mutex_unlock(&tm.work_mutex);
    for (size_t i = 0; i < tm.thread_cnt; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    print_result(sum);
    return 0;
}
