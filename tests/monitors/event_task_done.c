/* A done flag inside every task, on one global mutex and condition for all of them: the caller
 * waits for the task that it needs next. Two waits share one condition, so it is broadcast. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

struct task {
    int number;
    int done;
    uint64_t result;
};

static pthread_mutex_t tasks_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t task_done_cond = PTHREAD_COND_INITIALIZER;
static struct task *tasks;
static int n_tasks;
static atomic_int taken;

static void task_finish(struct task *task, uint64_t result) {
    pthread_mutex_lock(&tasks_lock);
    task->result = result;
    task->done = 1;
    pthread_cond_broadcast(&task_done_cond);
    pthread_mutex_unlock(&tasks_lock);
}

static uint64_t task_wait(struct task *task) {
    pthread_mutex_lock(&tasks_lock);
    while (!task->done)
        pthread_cond_wait(&task_done_cond, &tasks_lock);
    pthread_mutex_unlock(&tasks_lock);
    return task->result;
}

static void *task_thread(void *unused) {
    (void)unused;
    for (int i; (i = atomic_fetch_add(&taken, 1)) < n_tasks;)
        task_finish(&tasks[i], burn((uint64_t)i, 900 + (unsigned)(i % 4) * 400));
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    n_tasks = scaled(options, 280);
    tasks = calloc((size_t)n_tasks, sizeof *tasks);
    pthread_t *threads = calloc((size_t)options.threads, sizeof *threads);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, task_thread, NULL);
    uint64_t tree = 0;
    for (int i = 0; i < n_tasks; i++)
        tree = burn(tree ^ task_wait(&tasks[i]), 250);
    for (int i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(tasks);
    print_result(tree);
    return 0;
}
