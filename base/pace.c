#include "base/pace.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <gsl/gsl_statistics_double.h>

#include "base/busy.h"
#include "base/clock.h"
#include "base/cores.h"
#include "base/log.h"
#include "base/memory.h"

#define PERIOD_MS    25
#define PIECE_ROUNDS 12000 /* some 25 us */
#define PIECES       4     /* whose median counts: one may be interrupted */
/* Pieces before those that count: the first ones of who has slept are slow, on a core that was idle
 * some machines' for a millisecond. Busy cores are not to be kept longer than they must. */
#define WARM_UP         2
#define WARM_UP_IDLE    40
#define LOOK_NS         400000000 /* before a run: some pieces on each core */
#define LONGEST_WAIT_NS 10e9
#define PATIENCE        5 /* a short run is rather made again */

struct core_pace {
    pthread_t thread;
    int stop; /* the eventfd of all */
    cpu_set_t cpu;
    uint64_t busy_ns; /* until it was started */
    int warm_up;
    double fastest_ns; /* look; 0: none yet */
    double sum_ns;     /* of the looks */
    size_t n;
};

struct pace {
    int stop;
    int asked_cores; /* of those there may be less */
    size_t n_cores;
    struct core_pace *cores;
};

/* As many instructions at once as a core can, so that a sibling that has some as well shows, and
 * about as much as in programs that compute: an unsteady machine's raytracer, moldyn, zstd and xz
 * took longer by the power 1.0 to 1.3 of this. Few long floating-point ones, which leave room for a
 * sibling, were slowed by half as much. Nothing of it is in memory: the caches are left to whoever
 * has them. */
static double do_piece(void) {
    uint64_t before_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (uint64_t i = 0; i < PIECE_ROUNDS; i++) {
        a = (a + i) ^ (i * 3);
        b = (b ^ a) + 7;
        c = (c + (b >> 1)) ^ 5;
        d = (d ^ (c + i)) + 9;
        e = (e + d) ^ i;
        f = (f ^ (e << 1)) + i;
    }
    volatile uint64_t result = a + b + c + d + e + f;
    (void)result; /* but for whom it would not be computed */
    return (double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
}

static double look(int warm_up) {
    double pieces_ns[PIECES];
    for (int i = 0; i < warm_up; i++)
        do_piece();
    for (int i = 0; i < PIECES; i++)
        pieces_ns[i] = do_piece();
    return gsl_stats_median(pieces_ns, 1, PIECES);
}

static void *watch(void *context) {
    struct core_pace *core = context;
    struct pollfd stop = {.fd = core->stop, .events = POLLIN};
    do {
        double ns = look(core->warm_up);
        core->fastest_ns = core->fastest_ns == 0 || ns < core->fastest_ns ? ns : core->fastest_ns;
        core->sum_ns += ns;
        core->n++;
    } while (poll(&stop, 1, PERIOD_MS) == 0);
    return NULL;
}

static void join_all(struct pace *pace) {
    eventfd_write(pace->stop, 1);
    for (size_t i = 0; i < pace->n_cores; i++)
        pthread_join(pace->cores[i].thread, NULL);
}

static void free_pace(struct pace *pace) {
    close(pace->stop);
    free(pace->cores);
    free(pace);
}

/* Signals stay the main thread's. */
static bool start_core(struct core_pace *core, int number) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = cores_start(&core->thread, number, CORES_USUAL_PRIORITY, watch, core);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static struct pace *start(int n_cores, int warm_up) {
    int stop = eventfd(0, EFD_CLOEXEC);
    if (stop < 0)
        return NULL;
    size_t n_allowed;
    int *numbers = cores_allowed(&n_allowed);
    size_t n = (size_t)n_cores < n_allowed ? (size_t)n_cores : n_allowed;
    struct pace *pace = memory_alloc(1, sizeof *pace);
    *pace = (struct pace){
        .stop = stop, .asked_cores = n_cores, .cores = memory_alloc(n, sizeof *pace->cores)};
    bool started = n > 0;
    while (started && pace->n_cores < n) {
        struct core_pace *core = &pace->cores[pace->n_cores];
        *core = (struct core_pace){.stop = stop, .warm_up = warm_up};
        CPU_ZERO(&core->cpu);
        CPU_SET(numbers[pace->n_cores], &core->cpu);
        core->busy_ns = busy_ns(&core->cpu);
        started = start_core(core, numbers[pace->n_cores]);
        pace->n_cores += started;
    }
    free(numbers);
    if (started)
        return pace;
    join_all(pace);
    free_pace(pace);
    return NULL;
}

struct pace *pace_start(int n_cores) {
    return start(n_cores, WARM_UP);
}

/* The fastest look of this process with so many cores; 0: none yet. */
static double fastest_with[CPU_SETSIZE + 1];

static double *fastest_of(int n_cores) {
    return &fastest_with[n_cores < CPU_SETSIZE ? n_cores : CPU_SETSIZE];
}

struct pace_reading pace_stop(struct pace *pace) {
    struct pace_reading reading = {0};
    if (!pace)
        return reading;
    join_all(pace);
    double sum_ns = 0, weights = 0;
    for (size_t i = 0; i < pace->n_cores; i++) {
        const struct core_pace *core = &pace->cores[i];
        if (reading.fastest_ns == 0 || core->fastest_ns < reading.fastest_ns)
            reading.fastest_ns = core->fastest_ns;
        double weight = BUSY_TICK_NS + (double)(busy_ns(&core->cpu) - core->busy_ns);
        sum_ns += weight * core->sum_ns / (double)core->n;
        weights += weight;
    }
    reading.piece_ns = sum_ns / weights;
    double *fastest_ns = fastest_of(pace->asked_cores);
    if (*fastest_ns == 0 || reading.fastest_ns < *fastest_ns)
        *fastest_ns = reading.fastest_ns;
    free_pace(pace);
    return reading;
}

double pace_slowdown(struct pace_reading reading, int n_cores) {
    double fastest_ns = n_cores > 0 ? *fastest_of(n_cores) : 0;
    return fastest_ns > 0 ? reading.piece_ns / fastest_ns : 0;
}

bool pace_wait(int n_cores, double run_ns) {
    const struct timespec look = {.tv_nsec = LOOK_NS};
    double from_ns = (double)clock_now_ns(CLOCK_MONOTONIC);
    double longest_ns = fmin(PATIENCE * run_ns, LONGEST_WAIT_NS);
    do {
        struct pace *pace = start(n_cores, WARM_UP_IDLE);
        nanosleep(&look, NULL);
        if (pace_slowdown(pace_stop(pace), n_cores) < PACE_DISTURBED)
            return true;
        progress_show("waiting until nothing slows the cores", -1);
    } while ((double)clock_now_ns(CLOCK_MONOTONIC) - from_ns < longest_ns);
    return false;
}
