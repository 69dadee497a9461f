/* KIND: jobs by a socket pair that all workers read, results by a pipe
 * BUILD: gcc -g -O2 -pthread socket_jobs.c -o socket_jobs
 * RUN: persik profile -- ./socket_jobs 2; persik predict; real: -- ./socket_jobs {threads}
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "work.h"

enum { JOBS = 6000 };
static int jobs[2], results[2];

static void *compute(void *arg) {
    (void)arg;
    uint64_t job;
    while (recv(jobs[1], &job, sizeof job, 0) == sizeof job && job) {
        job = work(job, 60);
        if (write(results[1], &job, sizeof job) != sizeof job)
            abort();
    }
    return NULL;
}

static void *feed(void *arg) {
    uint64_t job = 1, end = 0;
    for (int i = 0; i < JOBS; i++) {
        job = work(job, 6) | 1;
        send(jobs[0], &job, sizeof job, 0);
    }
    for (int i = 0; i < *(int *)arg; i++)
        send(jobs[0], &end, sizeof end, 0);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *ids = malloc((size_t)threads * sizeof *ids), feeder;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, jobs) || pipe(results))
        return 1;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, compute, NULL);
    pthread_create(&feeder, NULL, feed, &threads);
    uint64_t sum = 0, result;
    for (int i = 0; i < JOBS; i++) {
        if (read(results[0], &result, sizeof result) != sizeof result)
            abort();
        sum += result;
    }
    pthread_join(feeder, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%lx\n", (unsigned long)sum);
    free(ids);
    return 0;
}
