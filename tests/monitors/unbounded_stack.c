/* Last in, first out: directories still to visit. Main pushes them in bursts, walkers pop. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

struct dir {
    struct dir *below;
    unsigned depth;
};

static struct {
    pthread_mutex_t guard;
    pthread_cond_t grown;
    struct dir *top;
    bool complete;
} todo = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, false};

static void push(struct dir *dir) {
    pthread_mutex_lock(&todo.guard);
    dir->below = todo.top;
    todo.top = dir;
    pthread_mutex_unlock(&todo.guard);
    pthread_cond_signal(&todo.grown);
}

static struct dir *pop(void) {
    struct dir *dir;
    pthread_mutex_lock(&todo.guard);
    for (;;) {
        dir = todo.top;
        if (dir != NULL) {
            todo.top = dir->below;
            break;
        }
        if (todo.complete)
            break;
        pthread_cond_wait(&todo.grown, &todo.guard);
    }
    pthread_mutex_unlock(&todo.guard);
    return dir;
}

static void finish(void) {
    pthread_mutex_lock(&todo.guard);
    todo.complete = true;
    pthread_cond_broadcast(&todo.grown);
    pthread_mutex_unlock(&todo.guard);
}

static void *walk(void *argument) {
    uint64_t *found = argument;
    for (struct dir *dir; (dir = pop()) != NULL; free(dir))
        *found += burn(dir->depth, 500 + dir->depth % 5 * 300);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    const int threads = options.threads;
    struct walker {
        pthread_t id;
        uint64_t found;
    } *walkers = calloc((size_t)threads, sizeof *walkers);
    for (int t = 0; t < threads; t++)
        pthread_create(&walkers[t].id, NULL, walk, &walkers[t].found);
    uint64_t sum = 0;
    unsigned depth = 0;
    for (int burst = 0; burst < scaled(options, 40); burst++) {
        sum += burn((uint64_t)burst, 2500);
        for (int i = 0; i < 9; i++) {
            struct dir *dir = malloc(sizeof *dir);
            dir->depth = depth++;
            push(dir);
        }
    }
    finish();
    for (int t = 0; t < threads; t++) {
        pthread_join(walkers[t].id, NULL);
        sum += walkers[t].found;
    }
    free(walkers);
    print_result(sum);
    return 0;
}
