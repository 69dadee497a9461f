/* Background jobs: parallel arrays of mutexes, conditions and lists, one of each per worker; a job
 * stays in the list while it is done, and is removed under the lock afterwards. */
#include <pthread.h>

#include "support.h"

#define MAX_WORKERS 64

static pthread_mutex_t bio_mutex[MAX_WORKERS];
static pthread_cond_t bio_newjob_cond[MAX_WORKERS];
static struct bio_job *bio_first[MAX_WORKERS], *bio_last[MAX_WORKERS];
static unsigned long bio_pending[MAX_WORKERS];
static uint64_t bio_result[MAX_WORKERS];

struct bio_job {
    struct bio_job *next;
    long arg; /* negative: the last one */
};

static void bioCreateJob(int worker, long arg) {
    struct bio_job *job = calloc(1, sizeof(*job));
    job->arg = arg;
    pthread_mutex_lock(&bio_mutex[worker]);
    if (bio_first[worker] == NULL)
        bio_first[worker] = job;
    else
        bio_last[worker]->next = job;
    bio_last[worker] = job;
    bio_pending[worker]++;
    pthread_cond_signal(&bio_newjob_cond[worker]);
    pthread_mutex_unlock(&bio_mutex[worker]);
}

static void *bioProcessJobs(void *arg) {
    int worker = (int)(intptr_t)arg, ended = 0;

    pthread_mutex_lock(&bio_mutex[worker]);
    while (!ended) {
        if (bio_first[worker] == NULL) {
            pthread_cond_wait(&bio_newjob_cond[worker], &bio_mutex[worker]);
            continue;
        }
        struct bio_job *job = bio_first[worker];
        pthread_mutex_unlock(&bio_mutex[worker]);

        if (job->arg < 0)
            ended = 1;
        else
            bio_result[worker] += burn((uint64_t)job->arg, 1050);

        pthread_mutex_lock(&bio_mutex[worker]);
        bio_first[worker] = job->next;
        bio_pending[worker]--;
        free(job);
    }
    pthread_mutex_unlock(&bio_mutex[worker]);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[MAX_WORKERS];
    int workers = options.threads < MAX_WORKERS ? options.threads : MAX_WORKERS;
    uint64_t sum = 0;

    for (int j = 0; j < workers; j++) {
        pthread_mutex_init(&bio_mutex[j], NULL);
        pthread_cond_init(&bio_newjob_cond[j], NULL);
        pthread_create(&threads[j], NULL, bioProcessJobs, (void *)(intptr_t)j);
    }
    for (long i = 0; i < scaled(options, 380); i++) {
        sum += burn((uint64_t)i, 300);
        bioCreateJob((int)(i % workers), i);
    }
    for (int j = 0; j < workers; j++)
        bioCreateJob(j, -1);
    for (int j = 0; j < workers; j++) {
        pthread_join(threads[j], NULL);
        sum += bio_result[j];
    }
    print_result(sum);
    return 0;
}
