#include "tracer/wakeups.h"

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
#include "base/cores.h"

#define PAIRS    5 /* near and far by turns: the machine may change its speed meanwhile */
#define ROUNDS   20
#define PAUSE_NS 300000   /* the woken thread is asleep again */
#define LIMIT_NS 10000000 /* it has not come: somebody else has its core */

struct trial {
    sem_t semaphore;
    _Atomic bool ends;
    _Atomic uint64_t woken_ns;
    double cpu_ns[ROUNDS];     /* that waking took the waker */
    double latency_ns[ROUNDS]; /* until the sleeper ran */
};

/* Lower quartiles: interrupts and other programs only add. */
struct outcome {
    double cpu_ns, latency_ns;
};

static void *sleep_and_note(void *context) {
    struct trial *trial = context;
    while (sem_wait(&trial->semaphore) != 0 || !trial->ends)
        trial->woken_ns = clock_now_ns(CLOCK_MONOTONIC);
    return NULL;
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
        compute_until(clock_now_ns(CLOCK_MONOTONIC) + PAUSE_NS);
        uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
        uint64_t cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
        sem_post(&trial->semaphore);
        trial->cpu_ns[i] = (double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
        while (trial->woken_ns == 0 && clock_now_ns(CLOCK_MONOTONIC) < start_ns + LIMIT_NS)
            sched_yield(); /* it may be on this core */
        uint64_t woken_ns = trial->woken_ns;
        trial->latency_ns[i] = woken_ns ? (double)(woken_ns - start_ns) : LIMIT_NS;
    }
    trial->ends = true;
    sem_post(&trial->semaphore);
    return NULL;
}

static bool start(pthread_t *thread, int core, void *(*routine)(void *), struct trial *trial) {
    return cores_start(thread, core, CORES_USUAL_PRIORITY, routine, trial);
}

static double lower_quartile(double *values) {
    gsl_sort(values, 1, ROUNDS);
    return gsl_stats_quantile_from_sorted_data(values, 1, ROUNDS, 0.25);
}

/* A waker on one core, and on the other one the sleeper and a thread that keeps that core busy; all
 * on the waker's without the third when it is the same core. False: a thread could not be started.
 */
static bool try_out(int waker_core, int sleeper_core, struct outcome *outcome) {
    struct trial trial = {0};
    bool is_remote = waker_core != sleeper_core;
    sem_init(&trial.semaphore, 0, 0);
    pthread_t sleeper, hog, waker;
    bool sleeps = start(&sleeper, sleeper_core, sleep_and_note, &trial);
    bool hogs = sleeps && is_remote && start(&hog, sleeper_core, keep_busy, &trial);
    bool wakes = sleeps && hogs == is_remote && start(&waker, waker_core, wake, &trial);
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
        *outcome = (struct outcome){lower_quartile(trial.cpu_ns), lower_quartile(trial.latency_ns)};
    return wakes;
}

static double median_or_nothing(double *values) {
    gsl_sort(values, 1, PAIRS);
    return fmax(values[PAIRS / 2], 0);
}

struct wakeup_costs wakeup_costs_measure(void) {
    size_t n;
    int *cores = cores_allowed(&n);
    double cpu_ns[PAIRS], latency_ns[PAIRS];
    bool measured = n >= 2;
    for (int i = 0; i < PAIRS && measured; i++) {
        struct outcome near, far;
        measured = try_out(cores[0], cores[0], &near) && try_out(cores[0], cores[1], &far);
        cpu_ns[i] = measured ? far.cpu_ns - near.cpu_ns : 0;
        latency_ns[i] = measured ? far.latency_ns - near.latency_ns : 0;
    }
    free(cores);
    if (!measured)
        return (struct wakeup_costs){0};
    return (struct wakeup_costs){median_or_nothing(cpu_ns), median_or_nothing(latency_ns)};
}
