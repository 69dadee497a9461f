/* Every call is checked by a wrapper that ends the program, both predicates know a shutdown, and
 * the length is computed from head and tail by a function. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

static void check(int error, const char *what) {
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(error));
        abort();
    }
}

static void Lock(pthread_mutex_t *m) {
    check(pthread_mutex_lock(m), "lock");
}

static void Unlock(pthread_mutex_t *m) {
    check(pthread_mutex_unlock(m), "unlock");
}

static void Wait(pthread_cond_t *c, pthread_mutex_t *m) {
    check(pthread_cond_wait(c, m), "wait");
}

static void Signal(pthread_cond_t *c) {
    check(pthread_cond_signal(c), "signal");
}

static void Broadcast(pthread_cond_t *c) {
    check(pthread_cond_broadcast(c), "broadcast");
}

#define JOBS_MAX 24

typedef struct {
    pthread_mutex_t m;
    pthread_cond_t nonEmpty, nonFull;
    unsigned head, tail; /* both < 2 * JOBS_MAX */
    bool shutdown;
    unsigned jobs[JOBS_MAX];
} JobQueue;

static JobQueue jobQueue = {PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_COND_INITIALIZER,
                            PTHREAD_COND_INITIALIZER,
                            0,
                            0,
                            false,
                            {0}};

static unsigned JobQueueLength(const JobQueue *q) {
    return q->tail >= q->head ? q->tail - q->head : q->tail + 2 * JOBS_MAX - q->head;
}

static bool JobQueuePut(JobQueue *q, unsigned job) {
    bool accepted = false;
    Lock(&q->m);
    while (JobQueueLength(q) == JOBS_MAX && !q->shutdown)
        Wait(&q->nonFull, &q->m);
    if (!q->shutdown) {
        q->jobs[q->tail % JOBS_MAX] = job;
        q->tail = (q->tail + 1) % (2 * JOBS_MAX);
        Signal(&q->nonEmpty);
        accepted = true;
    }
    Unlock(&q->m);
    return accepted;
}

static bool JobQueueGet(JobQueue *q, unsigned *job) {
    bool any;
    Lock(&q->m);
    while (!(any = JobQueueLength(q) > 0) && !q->shutdown)
        Wait(&q->nonEmpty, &q->m);
    if (any) {
        *job = q->jobs[q->head % JOBS_MAX];
        q->head = (q->head + 1) % (2 * JOBS_MAX);
        Signal(&q->nonFull);
    }
    Unlock(&q->m);
    return any;
}

static void JobQueueShutdown(JobQueue *q) {
    Lock(&q->m);
    q->shutdown = true;
    Broadcast(&q->nonEmpty);
    Broadcast(&q->nonFull);
    Unlock(&q->m);
}

static void *Work(void *sum) {
    unsigned job;
    while (JobQueueGet(&jobQueue, &job))
        *(uint64_t *)sum += burn(job, 400);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    const int n = options.threads;
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    uint64_t *sums = calloc((size_t)n, sizeof *sums), sum = 0;
    for (int i = 0; i < n; i++)
        check(pthread_create(&threads[i], NULL, Work, &sums[i]), "create");
    for (unsigned job = 0; job < (unsigned)scaled(options, 1200); job++)
        if (JobQueuePut(&jobQueue, job))
            sum += burn(job, 40);
    JobQueueShutdown(&jobQueue);
    for (int i = 0; i < n; i++) {
        check(pthread_join(threads[i], NULL), "join");
        sum += sums[i];
    }
    free(sums);
    free(threads);
    print_result(sum);
    return 0;
}
