/* Frame threads: a row may only be decoded when the row below it in the frame before is ready.
 * Every frame has its own progress number, mutex and condition. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

#define ROWS 12

typedef struct ThreadFrame {
    pthread_mutex_t progress_mutex;
    pthread_cond_t progress_cond;
    int progress; /* rows that are ready */
    uint64_t row[ROWS];
} ThreadFrame;

static ThreadFrame *frames;
static atomic_int next_frame;
static int nb_frames;

static void report_progress(ThreadFrame *f, int progress) {
    pthread_mutex_lock(&f->progress_mutex);
    f->progress = progress;
    pthread_cond_broadcast(&f->progress_cond);
    pthread_mutex_unlock(&f->progress_mutex);
}

static void await_progress(ThreadFrame *f, int progress) {
    pthread_mutex_lock(&f->progress_mutex);
    while (f->progress < progress)
        pthread_cond_wait(&f->progress_cond, &f->progress_mutex);
    pthread_mutex_unlock(&f->progress_mutex);
}

static void decode_frame(int n) {
    ThreadFrame *f = &frames[n];
    for (int row = 0; row < ROWS; row++) {
        uint64_t reference = 0;
        if (n > 0) {
            int below = row + 1 < ROWS ? row + 1 : row;
            await_progress(&frames[n - 1], below + 1);
            reference = frames[n - 1].row[row] + frames[n - 1].row[below];
        }
        f->row[row] = burn(reference + (uint64_t)(n * ROWS + row), 550);
        report_progress(f, row + 1);
    }
}

static void *frame_worker(void *arg) {
    int n;
    while ((n = atomic_fetch_add(&next_frame, 1)) < nb_frames)
        decode_frame(n);
    return arg;
}

int main(int argc, char **argv) {
    struct options o = read_options(argc, argv);
    pthread_t *workers = calloc((size_t)o.threads, sizeof(*workers));
    uint64_t sum = 0;

    nb_frames = scaled(o, 76);
    frames = calloc((size_t)nb_frames, sizeof(*frames));
    for (int i = 0; i < nb_frames; i++) {
        pthread_mutex_init(&frames[i].progress_mutex, NULL);
        pthread_cond_init(&frames[i].progress_cond, NULL);
    }
    for (int i = 0; i < o.threads; i++)
        pthread_create(&workers[i], NULL, frame_worker, NULL);
    for (int i = 0; i < o.threads; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < nb_frames; i++)
        sum += frames[i].row[ROWS - 1];
    free(frames);
    free(workers);
    print_result(sum);
    return 0;
}
