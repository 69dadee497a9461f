/* KIND: work from a timer's signal handler, through a pipe
 * BUILD: gcc -g -O2 -pthread alarm_pipe.c -o alarm_pipe
 * RUN: persik profile -- ./alarm_pipe 2; predict -- ./alarm_pipe {threads} */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "work.h"

enum { JOBS = 400, EVERY_US = 2500, MOST_THREADS = 64 };

static int jobs[2];
static atomic_int done;
static atomic_ullong sum;

static void alarm_rings(int signal) {
    int before = errno;
    char job = (char)signal;
    if (write(jobs[1], &job, 1) != 1)
        abort();
    errno = before;
}

static void *work_off(void *arg) {
    char job;
    (void)arg;
    while (atomic_fetch_add(&done, 1) < JOBS) {
        while (read(jobs[0], &job, 1) != 1)
            ; /* a signal came to this thread */
        atomic_fetch_add(&sum, work((uint64_t)job, 400) & 1);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    struct sigaction rings = {.sa_handler = alarm_rings};
    struct itimerval every = {{0, EVERY_US}, {0, EVERY_US}};
    if (pipe(jobs) != 0 || sigaction(SIGALRM, &rings, NULL) != 0)
        return 1;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work_off, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
