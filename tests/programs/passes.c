/* Two passes over a film, each with workers of its own, in whose slots (a mutex, a condition, a state)
 * the creator leaves commands; it carries out the last one itself. The slots of the second pass lie
 * where those of the first one lay. The rows of a frame are taken from a list until there is
 * nothing in it, upon which a function is asked whether the frame is done.
 * Usage: passes THREADS */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAMES      24
#define ROWS        30
#define MAX_THREADS 64

enum state { IDLE, WORK, LEAVE };

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
};

static struct worker workers[MAX_THREADS];
static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;
static struct row {
    struct row *next;
    unsigned value;
} rows[ROWS], *next_row;
static unsigned rows_taken;

static unsigned compute(unsigned value, long length) {
    for (long i = 0; i < length; i++)
        value = value * 1664525U + 1013904223U;
    return value;
}

static struct row *take_row(void) {
    pthread_mutex_lock(&rows_lock);
    struct row *row = next_row;
    if (row != NULL) {
        next_row = row->next;
        rows_taken++;
    }
    pthread_mutex_unlock(&rows_lock);
    return row;
}

static bool is_frame_done(void) {
    pthread_mutex_lock(&rows_lock);
    bool done = rows_taken == ROWS;
    pthread_mutex_unlock(&rows_lock);
    return done;
}

static void code_rows(void) {
    bool done = false;
    while (!done) {
        struct row *row = take_row();
        if (row == NULL)
            done = is_frame_done();
        else
            row->value = compute(row->value, 400000);
    }
}

static void *run(void *argument) {
    struct worker *worker = argument;
    bool done = false;
    while (!done) {
        pthread_mutex_lock(&worker->lock);
        while (worker->state == IDLE)
            pthread_cond_wait(&worker->changed, &worker->lock);
        if (worker->state == WORK) {
            code_rows();
            worker->state = IDLE;
        } else {
            done = true;
        }
        pthread_cond_signal(&worker->changed);
        pthread_mutex_unlock(&worker->lock);
    }
    return NULL;
}

/* Waits until the worker is idle. */
static void change_state(struct worker *worker, enum state state) {
    pthread_mutex_lock(&worker->lock);
    while (worker->state != IDLE)
        pthread_cond_wait(&worker->changed, &worker->lock);
    if (state != IDLE) {
        worker->state = state;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
}

static void code_frame(long threads) {
    for (int r = 0; r < ROWS; r++)
        rows[r].next = r + 1 < ROWS ? &rows[r + 1] : NULL;
    next_row = &rows[0];
    rows_taken = 0;
    for (long t = 0; t < threads; t++)
        if (t == threads - 1)
            code_rows();
        else
            change_state(&workers[t], WORK);
    for (long t = 0; t < threads - 1; t++)
        change_state(&workers[t], IDLE);
}

static void create_workers(long threads) {
    for (long t = 0; t < threads; t++)
        if (t < threads - 1) {
            struct worker *worker = &workers[t];
            *worker = (struct worker){.state = IDLE};
            pthread_mutex_init(&worker->lock, NULL);
            pthread_cond_init(&worker->changed, NULL);
            pthread_create(&worker->thread, NULL, run, worker);
        }
}

static void end_workers(long threads) {
    for (long t = 0; t < threads - 1; t++) {
        change_state(&workers[t], LEAVE);
        pthread_join(workers[t].thread, NULL);
        pthread_mutex_destroy(&workers[t].lock);
        pthread_cond_destroy(&workers[t].changed);
    }
}

static void first_pass(long threads) {
    create_workers(threads);
    for (int frame = 0; frame < FRAMES; frame++)
        code_frame(threads);
    end_workers(threads);
}

static void second_pass(long threads) {
    create_workers(threads);
    for (int frame = 0; frame < FRAMES; frame++)
        code_frame(threads);
    end_workers(threads);
}

int main(int argc, char **argv) {
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    first_pass(threads);
    second_pass(threads);
    printf("%u\n", rows[ROWS - 1].value);
    return 0;
}
