/* A decoder's frames go through filters. Each filter announces how many tasks it is about to queue,
 * and the frame is done when as many have finished as were announced. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

enum { ROWS = 6, TASKS = 64 };

struct frame {
    pthread_mutex_t mutex;
    pthread_cond_t finished_cond;
    int announced, finished;
    uint64_t pixels[ROWS];
};

struct task {
    struct frame *frame;
    int row;
    unsigned us;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct task tasks[TASKS];
    unsigned head, tail;
    bool stopped;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void frame_expect(struct frame *frame, int tasks) {
    pthread_mutex_lock(&frame->mutex);
    frame->announced += tasks;
    pthread_mutex_unlock(&frame->mutex);
}

static void frame_task_done(struct frame *frame) {
    pthread_mutex_lock(&frame->mutex);
    if (++frame->finished == frame->announced)
        pthread_cond_broadcast(&frame->finished_cond);
    pthread_mutex_unlock(&frame->mutex);
}

static void frame_await(struct frame *frame) {
    pthread_mutex_lock(&frame->mutex);
    while (frame->finished != frame->announced)
        pthread_cond_wait(&frame->finished_cond, &frame->mutex);
    pthread_mutex_unlock(&frame->mutex);
}

static void pool_queue(struct frame *frame, int row, unsigned us) {
    pthread_mutex_lock(&pool.mutex);
    pool.tasks[pool.tail++ % TASKS] = (struct task){frame, row, us};
    pthread_cond_signal(&pool.more);
    pthread_mutex_unlock(&pool.mutex);
}

static bool pool_next(struct task *task) {
    pthread_mutex_lock(&pool.mutex);
    while (pool.head == pool.tail && !pool.stopped)
        pthread_cond_wait(&pool.more, &pool.mutex);
    bool any = pool.head != pool.tail;
    if (any)
        *task = pool.tasks[pool.head++ % TASKS];
    pthread_mutex_unlock(&pool.mutex);
    return any;
}

static void *worker(void *unused) {
    struct task task;
    while (pool_next(&task)) {
        task.frame->pixels[task.row] ^= burn((uint64_t)task.row + 1, task.us);
        frame_task_done(task.frame);
    }
    return unused;
}

static void filter_rows(struct frame *frame) {
    frame_expect(frame, ROWS);
    for (int row = 0; row < ROWS; row++)
        pool_queue(frame, row, 700);
    frame_await(frame);
}

/* Every other frame only: its two halves are tasks of their own. */
static void sharpen_edges(struct frame *frame) {
    frame_expect(frame, 2);
    pool_queue(frame, 0, 1200);
    pool_queue(frame, ROWS - 1, 1200);
    frame_await(frame);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t workers[options.threads];
    for (int i = 0; i < options.threads; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    struct frame frame = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                          .finished_cond = PTHREAD_COND_INITIALIZER};
    uint64_t film = 0;
    int n_frames = scaled(options, 90);
    for (int i = 0; i < n_frames; i++) {
        filter_rows(&frame);
        if (i % 2)
            sharpen_edges(&frame);
        for (int row = 0; row < ROWS; row++)
            film = burn(film ^ frame.pixels[row], 40);
    }
    pthread_mutex_lock(&pool.mutex);
    pool.stopped = true;
    pthread_cond_broadcast(&pool.more);
    pthread_mutex_unlock(&pool.mutex);
    for (int i = 0; i < options.threads; i++)
        pthread_join(workers[i], NULL);
    print_result(film);
    return 0;
}
