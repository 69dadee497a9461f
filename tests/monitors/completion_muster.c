/* A runner of parallel loops whose workers muster before each of them: whoever starts one waits
 * until all are ready again. The same few lines wait for that after the workers were made, after
 * each of them has warmed up, and after every loop, which hands out its items by an atomic counter.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

enum command { AS_YOU_WERE, WARM_UP, LOOP, LEAVE };

struct runner {
    pthread_mutex_t lock;
    pthread_cond_t muster, start;
    int workers, ready;
    enum command command;
    atomic_int next_item;
    int items;
    atomic_ullong sum;
};

static void loop_items(struct runner *runner) {
    for (;;) {
        int item = atomic_fetch_add(&runner->next_item, 1);
        if (item >= runner->items)
            return;
        atomic_fetch_add(&runner->sum, burn((uint64_t)item, 500));
    }
}

static void *work(void *argument) {
    struct runner *runner = argument;
    for (;;) {
        pthread_mutex_lock(&runner->lock);
        if (++runner->ready == runner->workers)
            pthread_cond_signal(&runner->muster);
        do
            pthread_cond_wait(&runner->start, &runner->lock);
        while (runner->command == AS_YOU_WERE);
        enum command command = runner->command;
        pthread_mutex_unlock(&runner->lock);
        if (command == LEAVE)
            return NULL;
        if (command == LOOP)
            loop_items(runner);
        else
            burn(1, 200);
    }
}

static void muster(struct runner *runner) {
    pthread_mutex_lock(&runner->lock);
    while (runner->ready != runner->workers)
        pthread_cond_wait(&runner->muster, &runner->lock);
    runner->ready = 0;
    runner->command = AS_YOU_WERE;
    pthread_mutex_unlock(&runner->lock);
}

static void command(struct runner *runner, enum command command) {
    pthread_mutex_lock(&runner->lock);
    runner->command = command;
    pthread_mutex_unlock(&runner->lock);
    pthread_cond_broadcast(&runner->start);
}

static void raise_workers(struct runner *runner, pthread_t *threads) {
    for (int i = 0; i < runner->workers; i++)
        pthread_create(&threads[i], NULL, work, runner);
    muster(runner);
}

static void warm_up(struct runner *runner) {
    command(runner, WARM_UP);
    muster(runner);
}

static void run_loop(struct runner *runner, int items) {
    runner->items = items;
    atomic_store(&runner->next_item, 0);
    command(runner, LOOP);
    muster(runner);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[options.threads];
    struct runner runner = {.lock = PTHREAD_MUTEX_INITIALIZER,
                            .muster = PTHREAD_COND_INITIALIZER,
                            .start = PTHREAD_COND_INITIALIZER,
                            .workers = options.threads};
    raise_workers(&runner, threads);
    warm_up(&runner);
    int loops = scaled(options, 60);
    uint64_t sum = 0;
    for (int i = 0; i < loops; i++) {
        run_loop(&runner, 16);
        sum += burn(sum, 300) + runner.sum;
    }
    command(&runner, LEAVE);
    for (int i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    print_result(sum);
    return 0;
}
