/* Detached threads; the last one to leave wakes main, which waits until none is alive. */
#include <pthread.h>

#include "support.h"

static pthread_mutex_t threads_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t threads_gone = PTHREAD_COND_INITIALIZER;
static int live_threads;

static uint64_t total;
static int rows, stride;

static void thread_leaves(uint64_t result) {
    pthread_mutex_lock(&threads_mutex);
    total += result;
    if (!--live_threads)
        pthread_cond_signal(&threads_gone);
    pthread_mutex_unlock(&threads_mutex);
}

static void *scan_rows(void *argument) {
    uint64_t result = 0;
    for (int row = (int)(intptr_t)argument; row < rows; row += stride)
        result += burn((uint64_t)row, 900);
    thread_leaves(result);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    rows = scaled(options, 580);
    stride = live_threads = options.threads;
    for (int i = 0; i < options.threads; i++) {
        pthread_t id;
        pthread_create(&id, NULL, scan_rows, (void *)(intptr_t)i);
        pthread_detach(id);
    }
    pthread_mutex_lock(&threads_mutex);
    while (live_threads)
        pthread_cond_wait(&threads_gone, &threads_mutex);
    pthread_mutex_unlock(&threads_mutex);
    print_result(total);
    return 0;
}
