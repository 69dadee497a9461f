/* coz_cases ACT FACTOR ROUNDS: programs for bench/what-if.sh coz, with Coz's progress points where
 * they are compiled with -DWITH_COZ. What is done in the line marked "changed" is done FACTOR
 * times.
 *
 * - sleepers: two threads sleep 2.5 and 10 ms, then meet (Coz' issue 231); the longer sleep.
 * - beside: one computes for some 5 ms, the other one sleeps 8 ms, then they meet; the computing.
 * - lock: two threads compute, most of it under one mutex; what is done under it.
 * - stages: one makes items, the other one takes longer to use each; the use.
 * - pauses: each of two threads computes, then sleeps as long; the computing.
 * - device: two threads compute, then sleep longer under one mutex; the computing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_COZ
#include <coz.h>
#else
#define COZ_PROGRESS
#endif

enum { ROOM = 4 };

static double factor;
static long rounds;
static pthread_barrier_t meeting;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* About as long as a usleep of so many on a machine of today; only ratios count. */
static long turns(double us) {
    return (long)(us * 1500);
}

/* In one line, as Coz asks about lines. */
#define COMPUTE(us)                                                                                \
    do {                                                                                           \
        volatile long left = turns(us);                                                            \
        while (left > 0)                                                                           \
            left--;                                                                                \
    } while (0)

/* ---- two threads meet ---- */

static void nap(void) {
    usleep((unsigned)(10000 * factor)); /* changed: sleepers */
    pthread_barrier_wait(&meeting);
}

static void *nap_long(void *argument) {
    for (long i = 0; i < rounds; i++)
        nap();
    return argument;
}

static void *nap_short(void *argument) {
    for (long i = 0; i < rounds; i++) {
        usleep(2500);
        pthread_barrier_wait(&meeting);
        COZ_PROGRESS;
    }
    return argument;
}

static void compute(void) {
    COMPUTE(5000 * factor); /* changed: beside */
    pthread_barrier_wait(&meeting);
}

static void *compute_all(void *argument) {
    for (long i = 0; i < rounds; i++)
        compute();
    return argument;
}

static void *nap_beside(void *argument) {
    for (long i = 0; i < rounds; i++) {
        usleep(8000);
        pthread_barrier_wait(&meeting);
        COZ_PROGRESS;
    }
    return argument;
}

/* ---- alike, with one mutex ---- */

static void hold(void) {
    pthread_mutex_lock(&mutex);
    COMPUTE(2000 * factor); /* changed: lock */
    pthread_mutex_unlock(&mutex);
}

static void *use_lock(void *argument) {
    for (long i = 0; i < rounds; i++) {
        COMPUTE(1000);
        hold();
        COZ_PROGRESS;
    }
    return argument;
}

static void prepare(void) {
    COMPUTE(2000 * factor); /* changed: device */
    pthread_mutex_lock(&mutex);
}

static void *use_device(void *argument) {
    for (long i = 0; i < rounds; i++) {
        prepare();
        usleep(4000);
        pthread_mutex_unlock(&mutex);
        COZ_PROGRESS;
    }
    return argument;
}

static void compute_and_pause(void) {
    COMPUTE(4000 * factor); /* changed: pauses */
    usleep(4000);
}

static void *pause_often(void *argument) {
    for (long i = 0; i < rounds; i++) {
        compute_and_pause();
        COZ_PROGRESS;
    }
    return argument;
}

/* ---- two stages ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t arrived, taken;
    int items;
} jobs = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void *make(void *argument) {
    for (long i = 0; i < rounds; i++) {
        COMPUTE(2000);
        pthread_mutex_lock(&jobs.mutex);
        while (jobs.items == ROOM)
            pthread_cond_wait(&jobs.taken, &jobs.mutex);
        jobs.items++;
        pthread_cond_signal(&jobs.arrived);
        pthread_mutex_unlock(&jobs.mutex);
    }
    return argument;
}

static void take_job(void) {
    pthread_mutex_lock(&jobs.mutex);
    while (jobs.items == 0)
        pthread_cond_wait(&jobs.arrived, &jobs.mutex);
    jobs.items--;
    pthread_cond_signal(&jobs.taken);
    pthread_mutex_unlock(&jobs.mutex);
}

static void finish_job(void) {
    COMPUTE(3000 * factor);     /* changed: stages */
    pthread_mutex_lock(&mutex); /* as if it counted them */
    pthread_mutex_unlock(&mutex);
}

static void *use(void *argument) {
    for (long i = 0; i < rounds; i++) {
        take_job();
        finish_job();
        COZ_PROGRESS;
    }
    return argument;
}

/* ---- all ---- */

static const struct {
    const char *name;
    void *(*first)(void *), *(*second)(void *);
} acts[] = {
    {"sleepers", nap_long, nap_short},    {"beside", compute_all, nap_beside},
    {"lock", use_lock, use_lock},         {"stages", make, use},
    {"pauses", pause_often, pause_often}, {"device", use_device, use_device},
};

int main(int argc, char **argv) {
    if (argc == 4) {
        factor = strtod(argv[2], NULL);
        rounds = strtol(argv[3], NULL, 10);
        pthread_barrier_init(&meeting, NULL, 2);
        for (size_t a = 0; a < sizeof acts / sizeof *acts; a++) {
            pthread_t threads[2];
            if (strcmp(acts[a].name, argv[1]) != 0)
                continue;
            pthread_create(&threads[0], NULL, acts[a].first, NULL);
            pthread_create(&threads[1], NULL, acts[a].second, NULL);
            pthread_join(threads[0], NULL);
            pthread_join(threads[1], NULL);
            return 0;
        }
    }
    fprintf(stderr, "usage: coz_cases sleepers|beside|lock|stages|pauses|device FACTOR ROUNDS\n");
    return 2;
}
