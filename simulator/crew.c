#include "simulator/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

struct crew {
    crew_job job;
    void *context;
    int end;
    atomic_int next; /* to be taken by a worker */
};

struct worker {
    struct crew *crew;
    int number;
    pthread_t thread;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    for (;;) {
        int job = atomic_fetch_add(&crew->next, 1);
        if (job >= crew->end)
            return NULL;
        crew->job(crew->context, job, worker->number);
    }
}

void crew_run(int n_workers, int first, int end, crew_job job, void *context) {
    struct crew crew = {.job = job, .context = context, .end = end, .next = first};
    struct worker *workers = memory_alloc((size_t)n_workers, sizeof *workers);
    for (int i = 0; i < n_workers; i++)
        workers[i] = (struct worker){.crew = &crew, .number = i};
    int started = 1;
    while (started < n_workers && started < end - first &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (int i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
}
