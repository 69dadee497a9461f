#include "host/wakeups.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/clock.h"
#include "host/cores.h"

#define PAIRS    5 /* near, far and idle by turns: the machine may change its speed meanwhile */
#define ROUNDS   20
#define PAUSE_NS 300000 /* the woken thread is asleep again */
#define IDLE_NS                                                                                    \
    1000000 /* and its core, too; the longer it idled the longer it takes to come back */
#define LIMIT_NS 10000000 /* it has not come: somebody else has its core */

struct trial {
    uint64_t pause_ns;
    sem_t semaphore;
    _Atomic bool ends;
    _Atomic uint64_t woken_ns;
    double cpu_ns[ROUNDS];     /* that waking took the waker */
    double latency_ns[ROUNDS]; /* until the sleeper ran */
    double sleep_ns[ROUNDS];   /* CPU that going to sleep and coming back took the sleeper */
};

/* Lower quartiles: interrupts and other programs only add. */
struct outcome {
    double cpu_ns, latency_ns;
    double median_latency_ns, median_sleep_ns; /* of what a program meets on the whole */
};

static void *sleep_and_note(void *context) {
    struct trial *trial = context;
    for (int i = 0;; i++) {
        uint64_t cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
        sem_wait(&trial->semaphore);
        if (trial->ends || i == ROUNDS)
            return NULL;
        trial->woken_ns = clock_now_ns(CLOCK_MONOTONIC);
        trial->sleep_ns[i] = (double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
    }
}

static void *keep_busy(void *context) {
    const struct trial *trial = context;
    while (!trial->ends)
        continue;
    return NULL;
}

/* Awake, as a waker is whose core is warm. */
static void compute_until(uint64_t end_ns) {
    while (clock_now_ns(CLOCK_MONOTONIC) < end_ns)
        continue;
}

static void *wake(void *context) {
    struct trial *trial = context;
    for (int i = 0; i < ROUNDS; i++) {
        trial->woken_ns = 0;
        compute_until(clock_now_ns(CLOCK_MONOTONIC) + trial->pause_ns);
        uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
        uint64_t cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
        sem_post(&trial->semaphore);
        trial->cpu_ns[i] = (double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
        while (trial->woken_ns == 0 && clock_now_ns(CLOCK_MONOTONIC) < start_ns + LIMIT_NS)
            sched_yield(); /* it may be on this core */
        uint64_t woken_ns = trial->woken_ns;
        /* one that came too late for the round before is none of this */
        trial->latency_ns[i] = woken_ns > start_ns ? (double)(woken_ns - start_ns) : LIMIT_NS;
    }
    trial->ends = true;
    sem_post(&trial->semaphore);
    return NULL;
}

static bool start(pthread_t *thread, int core, void *(*routine)(void *), struct trial *trial) {
    return cores_start(thread, core, CORES_USUAL_PRIORITY, routine, trial);
}

static double quantile(double *values, double share) {
    gsl_sort(values, 1, ROUNDS);
    return gsl_stats_quantile_from_sorted_data(values, 1, ROUNDS, share);
}

/* A waker on one core, and the sleeper on that or another one; `busy`: with a thread that keeps the
 * sleeper's core busy. False: a thread could not be started. */
static bool try_out(int waker_core, int sleeper_core, bool busy, struct outcome *outcome) {
    struct trial trial = {.pause_ns = waker_core == sleeper_core || busy ? PAUSE_NS : IDLE_NS};
    sem_init(&trial.semaphore, 0, 0);
    pthread_t sleeper, hog, waker;
    bool sleeps = start(&sleeper, sleeper_core, sleep_and_note, &trial);
    bool hogs = sleeps && busy && start(&hog, sleeper_core, keep_busy, &trial);
    bool wakes = sleeps && hogs == busy && start(&waker, waker_core, wake, &trial);
    if (wakes) {
        pthread_join(waker, NULL);
    } else {
        trial.ends = true;
        sem_post(&trial.semaphore);
    }
    if (hogs)
        pthread_join(hog, NULL);
    if (sleeps)
        pthread_join(sleeper, NULL);
    sem_destroy(&trial.semaphore);
    if (wakes)
        *outcome = (struct outcome){quantile(trial.cpu_ns, 0.25), quantile(trial.latency_ns, 0.25),
                                    quantile(trial.latency_ns, 0.5), quantile(trial.sleep_ns, 0.5)};
    return wakes;
}

static double median_or_nothing(double *values) {
    gsl_sort(values, 1, PAIRS);
    return fmax(values[PAIRS / 2], 0);
}

struct wakeup_costs wakeup_costs_measure(void) {
    size_t n;
    int *cores = cores_allowed(&n);
    double cpu_ns[PAIRS], latency_ns[PAIRS], idle_ns[PAIRS], sleep_ns[PAIRS];
    bool measured = n >= 2;
    for (int i = 0; i < PAIRS && measured; i++) {
        struct outcome near, far, idle;
        measured = try_out(cores[0], cores[0], false, &near) &&
                   try_out(cores[0], cores[1], true, &far) &&
                   try_out(cores[0], cores[1], false, &idle);
        cpu_ns[i] = measured ? far.cpu_ns - near.cpu_ns : 0;
        latency_ns[i] = measured ? far.latency_ns - near.latency_ns : 0;
        idle_ns[i] = measured ? idle.median_latency_ns : 0;
        sleep_ns[i] = measured ? idle.median_sleep_ns : 0;
    }
    free(cores);
    if (!measured)
        return (struct wakeup_costs){0};
    return (struct wakeup_costs){median_or_nothing(cpu_ns), median_or_nothing(latency_ns),
                                 median_or_nothing(idle_ns), median_or_nothing(sleep_ns)};
}
