/* Timed waits in a loop: who waits looks up every 50 ms whether the program is being stopped.
 * Nothing depends on the timeout. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "support.h"

#define MAX_FRAMES 6

typedef struct FrameQueue {
    uint64_t frames[MAX_FRAMES];
    int rindex, windex, size;
    int abort_request;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} FrameQueue;

static FrameQueue fq = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
static atomic_bool stopping;

static void wait_a_little(FrameQueue *f) {
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += 50 * 1000000L;
    if (ts.tv_nsec >= 1000000000L) {
        ts.tv_sec++;
        ts.tv_nsec -= 1000000000L;
    }
    if (pthread_cond_timedwait(&f->cond, &f->mutex, &ts) == ETIMEDOUT && atomic_load(&stopping))
        f->abort_request = 1;
}

static int frame_queue_push(FrameQueue *f, uint64_t frame) {
    pthread_mutex_lock(&f->mutex);
    while (f->size >= MAX_FRAMES && !f->abort_request)
        wait_a_little(f);
    if (f->abort_request) {
        pthread_mutex_unlock(&f->mutex);
        return -1;
    }
    f->frames[f->windex] = frame;
    if (++f->windex == MAX_FRAMES)
        f->windex = 0;
    f->size++;
    pthread_cond_broadcast(&f->cond);
    pthread_mutex_unlock(&f->mutex);
    return 0;
}

static int frame_queue_next(FrameQueue *f, uint64_t *frame) {
    pthread_mutex_lock(&f->mutex);
    while (f->size <= 0 && !f->abort_request)
        wait_a_little(f);
    if (f->abort_request) {
        pthread_mutex_unlock(&f->mutex);
        return -1;
    }
    *frame = f->frames[f->rindex];
    if (++f->rindex == MAX_FRAMES)
        f->rindex = 0;
    f->size--;
    pthread_cond_broadcast(&f->cond);
    pthread_mutex_unlock(&f->mutex);
    return 0;
}

static void *filter_thread(void *arg) {
    uint64_t frame, *acc = arg;
    while (frame_queue_next(&fq, &frame) == 0 && frame != UINT64_MAX)
        *acc += burn(frame, 1400);
    return NULL;
}

int main(int argc, char **argv) {
    struct options o = read_options(argc, argv);
    pthread_t *tid = calloc((size_t)o.threads, sizeof(*tid));
    uint64_t *acc = calloc((size_t)o.threads, sizeof(*acc));
    uint64_t sum = 0;
    int nb_frames = scaled(o, 320);

    for (int i = 0; i < o.threads; i++)
        pthread_create(&tid[i], NULL, filter_thread, &acc[i]);
    for (int i = 0; i < nb_frames; i++) {
        sum += burn((uint64_t)i, 220);
        frame_queue_push(&fq, (uint64_t)i);
    }
    for (int i = 0; i < o.threads; i++)
        frame_queue_push(&fq, UINT64_MAX);
    for (int i = 0; i < o.threads; i++) {
        pthread_join(tid[i], NULL);
        sum += acc[i];
    }
    free(acc);
    free(tid);
    print_result(sum);
    return 0;
}
