/* A lock-free queue of a program's own: main pushes jobs into a ring of 8, the workers poll it, and
 * give up when they are told that nothing more comes. ring WORKERS JOBS. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 8u

struct slot {
    _Atomic unsigned turn;
    int *job;
};

struct ring {
    struct slot slots[SLOTS];
    _Atomic unsigned head, tail;
};

static struct ring ring;
static _Atomic bool finished;
static _Atomic long done;

static __attribute__((noipa)) bool ring_push(struct ring *to, int *job) {
    unsigned at = atomic_load(&to->tail);
    for (;;) {
        struct slot *slot = &to->slots[at % SLOTS];
        int ahead = (int)(atomic_load(&slot->turn) - at);
        if (ahead < 0)
            return false;
        if (ahead == 0 && atomic_compare_exchange_weak(&to->tail, &at, at + 1)) {
            slot->job = job;
            atomic_store(&slot->turn, at + 1);
            return true;
        }
        if (ahead > 0)
            at = atomic_load(&to->tail);
    }
}

static __attribute__((noipa)) int *ring_pop(struct ring *from) {
    unsigned at = atomic_load(&from->head);
    for (;;) {
        struct slot *slot = &from->slots[at % SLOTS];
        int ahead = (int)(atomic_load(&slot->turn) - (at + 1));
        if (ahead < 0)
            return NULL;
        if (ahead == 0 && atomic_compare_exchange_weak(&from->head, &at, at + 1)) {
            int *job = slot->job;
            atomic_store(&slot->turn, at + SLOTS);
            return job;
        }
        if (ahead > 0)
            at = atomic_load(&from->head);
    }
}

static void compute(int job) {
    volatile double x = 0;
    for (int i = 0; i < 60000 + 20000 * (job % 3); i++)
        x = x + 1.0 / (i + 1);
    atomic_fetch_add(&done, 1);
}

static void *work(void *unused) {
    for (;;) {
        bool last = atomic_load(&finished);
        int *job = ring_pop(&ring);
        if (job)
            compute(*job);
        else if (last)
            return unused;
        else
            sched_yield();
    }
}

int main(int argc, char **argv) {
    int n_workers = argc > 1 ? atoi(argv[1]) : 1;
    int n_jobs = argc > 2 ? atoi(argv[2]) : 1000;
    int *jobs = calloc((size_t)n_jobs, sizeof *jobs);
    pthread_t *workers = calloc((size_t)n_workers, sizeof *workers);
    for (unsigned i = 0; i < SLOTS; i++)
        atomic_init(&ring.slots[i].turn, i);
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < n_jobs; i++) {
        jobs[i] = i;
        while (!ring_push(&ring, &jobs[i]))
            sched_yield();
    }
    atomic_store(&finished, true);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    printf("%ld jobs\n", atomic_load(&done));
    free(jobs);
    free(workers);
    return 0;
}
