/* Acquiring with a deadline that is taken anew until it succeeds, unlocking by a cleanup handler.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "support.h"

typedef struct PGSema {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int count;
} PGSema;

static PGSema io_slots;
static int nbackends, npages;

static void release_mutex(void *arg) {
    pthread_mutex_unlock(arg);
}

/* 0, or ETIMEDOUT when none has become free within 100 ms. */
static int PGSemaTimedLock(PGSema *sema) {
    struct timespec deadline;
    volatile int rc = 0; /* cleanup handlers may be made of setjmp */

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += 100000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_nsec -= 1000000000;
        deadline.tv_sec++;
    }
    pthread_mutex_lock(&sema->mutex);
    pthread_cleanup_push(release_mutex, &sema->mutex);
    while (sema->count == 0 && rc == 0)
        rc = pthread_cond_timedwait(&sema->cond, &sema->mutex, &deadline);
    if (sema->count > 0) {
        sema->count--;
        rc = 0;
    }
    pthread_cleanup_pop(1);
    return rc;
}

static void PGSemaLock(PGSema *sema) {
    while (PGSemaTimedLock(sema) == ETIMEDOUT)
        continue;
}

static void PGSemaUnlock(PGSema *sema) {
    pthread_mutex_lock(&sema->mutex);
    sema->count++;
    pthread_cond_signal(&sema->cond);
    pthread_mutex_unlock(&sema->mutex);
}

static void *BackendMain(void *arg) {
    uint64_t sum = 0;

    for (int page = (int)(intptr_t)arg; page < npages; page += nbackends) {
        uint64_t tuple = burn((uint64_t)page, 350);
        PGSemaLock(&io_slots);
        sum += burn(tuple, 750);
        PGSemaUnlock(&io_slots);
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t *backends;
    uint64_t sum = 0;

    nbackends = options.threads;
    npages = scaled(options, 460);
    io_slots.count = 2;
    pthread_mutex_init(&io_slots.mutex, NULL);
    pthread_cond_init(&io_slots.cond, NULL);
    backends = malloc(sizeof(pthread_t) * (size_t)nbackends);
    for (int i = 0; i < nbackends; i++)
        pthread_create(&backends[i], NULL, BackendMain, (void *)(intptr_t)i);
    for (int i = 0; i < nbackends; i++) {
        void *result;
        pthread_join(backends[i], &result);
        sum += (uint64_t)(uintptr_t)result;
    }
    free(backends);
    print_result(sum);
    return 0;
}
