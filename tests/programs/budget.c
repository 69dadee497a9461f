/* A sum of two things and a flag in one predicate: small jobs need one unit of memory, large ones
 * three; a cleaner keeps all out now and then, until those inside are gone, and cleans up.
 *
 * usage: budget THREADS JOBS */
#include <pthread.h>
#include <stdbool.h>

#include "../monitors/support.h"

#define LIMIT 4
#define LARGE 3
#define BATCH 24 /* jobs between two cleanings */

static struct budget {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int used, done;
    bool draining, over;
} budget = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false, false};

static void enter_small(struct budget *b) {
    pthread_mutex_lock(&b->mutex);
    while (b->used + 1 > LIMIT || b->draining)
        pthread_cond_wait(&b->changed, &b->mutex);
    b->used += 1;
    pthread_mutex_unlock(&b->mutex);
}

static void leave_small(struct budget *b) {
    pthread_mutex_lock(&b->mutex);
    b->used -= 1;
    b->done++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

static void enter_large(struct budget *b) {
    pthread_mutex_lock(&b->mutex);
    while (b->used + LARGE > LIMIT || b->draining)
        pthread_cond_wait(&b->changed, &b->mutex);
    b->used += LARGE;
    pthread_mutex_unlock(&b->mutex);
}

static void leave_large(struct budget *b) {
    pthread_mutex_lock(&b->mutex);
    b->used -= LARGE;
    b->done++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

/* Until a batch is done, and nobody is inside; then nobody comes in. False: that was all. */
static bool begin_cleaning(struct budget *b) {
    pthread_mutex_lock(&b->mutex);
    while (b->done < BATCH && !b->over)
        pthread_cond_wait(&b->changed, &b->mutex);
    bool more = b->done >= BATCH;
    if (more) {
        b->done -= BATCH;
        b->draining = true;
    }
    while (b->used > 0)
        pthread_cond_wait(&b->changed, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
    return more;
}

static void end_cleaning(struct budget *b) {
    pthread_mutex_lock(&b->mutex);
    b->draining = false;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

static void end_jobs(struct budget *b) {
    pthread_mutex_lock(&b->mutex);
    b->over = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

static uint64_t total;

static void *clean(void *unused) {
    while (begin_cleaning(&budget)) {
        __atomic_fetch_add(&total, burn(3, 4000), __ATOMIC_RELAXED);
        end_cleaning(&budget);
    }
    return unused;
}

struct share {
    pthread_t thread;
    int jobs;
};

static void *work(void *argument) {
    const struct share *share = argument;
    for (int i = 0; i < share->jobs; i++) {
        enter_small(&budget);
        __atomic_fetch_add(&total, burn((uint64_t)i, 600), __ATOMIC_RELAXED);
        leave_small(&budget);
        enter_large(&budget);
        __atomic_fetch_add(&total, burn((uint64_t)i, 900), __ATOMIC_RELAXED);
        leave_large(&budget);
        __atomic_fetch_add(&total, burn((uint64_t)i, 500), __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2, jobs = argc > 2 ? atoi(argv[2]) : 240;
    struct share *shares = calloc((size_t)threads, sizeof *shares);
    pthread_t cleaner;
    pthread_create(&cleaner, NULL, clean, NULL);
    for (int i = 0; i < threads; i++) {
        shares[i].jobs = jobs / threads + (i < jobs % threads);
        pthread_create(&shares[i].thread, NULL, work, &shares[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(shares[i].thread, NULL);
    end_jobs(&budget);
    pthread_join(cleaner, NULL);
    print_result(total);
    free(shares);
    return 0;
}
