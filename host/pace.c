#include "host/pace.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <gsl/gsl_statistics_double.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "host/busy.h"
#include "host/cores.h"
#include "processor/processor.h"

#define PERIOD_MS 25
#define PIECES    3     /* whose median counts: one may be interrupted */
#define ROUNDS    12000 /* of a piece that computes: some 25 us */
#define READS     300   /* of a piece that waits for memory: some 10 us */
/* So much that what is read is in no cache: it was thrown out of all after it was read last. */
#define MEMORY_BYTES (64UL << 20)
#define LINE_BYTES   64UL
/* Pieces before those that count: the first ones of who has slept are slow, on a core that was idle
 * some machines' for a millisecond. Busy cores are not to be kept longer than they must. */
#define WARM_UP         1
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
    uint64_t random;
    double fastest_ns[PACE_KINDS]; /* look; 0: none yet */
    double sum_ns[PACE_KINDS];     /* of the looks */
    size_t n;
};

struct pace {
    int stop;
    int asked_cores; /* of those there may be less */
    size_t n_cores;
    struct core_pace *cores;
};

/* As many instructions at once as a core can, so that a sibling that has some as well shows, and
 * about as much as in programs that compute. Few long floating-point ones, which leave room for a
 * sibling, are slowed by half as much. */
static void compute(void) {
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        a = (a + i) ^ (i * 3);
        b = (b ^ a) + 7;
        c = (c + (b >> 1)) ^ 5;
        d = (d ^ (c + i)) + 9;
        e = (e + d) ^ i;
        f = (f ^ (e << 1)) + i;
    }
    volatile uint64_t result = a + b + c + d + e + f;
    (void)result; /* but for whom it would not be computed */
}

static unsigned char *memory; /* NULL: not needed yet, or there is none */

static uint64_t next_line(uint64_t *random) {
    *random = *random * 6364136223846793005U + 1442695040888963407U; /* Knuth's MMIX */
    return (*random >> 33) % (MEMORY_BYTES / LINE_BYTES);
}

/* Many reads at once, for what slows programs is rather how many a machine can do. */
static void read_memory(uint64_t random) {
    unsigned sum = 0;
    for (int i = 0; i < READS; i++)
        sum += memory[next_line(&random) * LINE_BYTES];
    volatile unsigned result = sum;
    (void)result;
}

static void prepare_memory(void) {
    if (memory)
        return;
    void *mapped =
        mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return;
    memory = mapped;
    madvise(memory, MEMORY_BYTES, MADV_HUGEPAGE); /* the page tables are not to be what is slow */
    memset(memory, 1, MEMORY_BYTES);
    for (size_t at = 0; at < MEMORY_BYTES; at += LINE_BYTES)
        processor_throw_out(&memory[at]);
}

static double do_piece(enum pace_kind kind, uint64_t *random) {
    uint64_t before_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (kind == PACE_COMPUTING)
        compute();
    else
        read_memory(*random);
    double ns = (double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
    for (int i = 0; kind == PACE_MEMORY && i < READS; i++)
        processor_throw_out(&memory[next_line(random) * LINE_BYTES]);
    return ns;
}

static void look(struct core_pace *core) {
    for (int i = 0; i < core->warm_up; i++)
        do_piece(PACE_COMPUTING, NULL);
    for (enum pace_kind kind = 0; kind < PACE_KINDS; kind++) {
        double pieces_ns[PIECES];
        for (int i = 0; i < PIECES; i++)
            pieces_ns[i] = do_piece(kind, &core->random);
        double median_ns = gsl_stats_median(pieces_ns, 1, PIECES);
        core->fastest_ns[kind] = pace_faster(core->fastest_ns[kind], median_ns);
        core->sum_ns[kind] += median_ns;
    }
    core->n++;
}

static void *watch(void *context) {
    struct core_pace *core = context;
    struct pollfd stop = {.fd = core->stop, .events = POLLIN};
    do
        look(core);
    while (poll(&stop, 1, PERIOD_MS) == 0);
    return NULL;
}

/* ---- watching ---- */

double pace_faster(double a_ns, double b_ns) {
    return a_ns == 0 || b_ns == 0 ? a_ns + b_ns : fmin(a_ns, b_ns);
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
    prepare_memory();
    bool started = n > 0 && memory;
    while (started && pace->n_cores < n) {
        struct core_pace *core = &pace->cores[pace->n_cores];
        *core = (struct core_pace){.stop = stop, .warm_up = warm_up, .random = pace->n_cores};
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

/* The fastest computing look of this process with so many cores; 0: none yet. */
static double fastest_with[CPU_SETSIZE + 1];

static double *fastest_of(int n_cores) {
    return &fastest_with[n_cores < CPU_SETSIZE ? n_cores : CPU_SETSIZE];
}

struct pace_reading pace_stop(struct pace *pace) {
    struct pace_reading reading = {0};
    if (!pace)
        return reading;
    join_all(pace);
    double weights = 0;
    for (size_t i = 0; i < pace->n_cores; i++) {
        const struct core_pace *core = &pace->cores[i];
        double weight = BUSY_TICK_NS + (double)(busy_ns(&core->cpu) - core->busy_ns);
        weights += weight;
        for (int kind = 0; kind < PACE_KINDS; kind++) {
            reading.piece_ns[kind] += weight * core->sum_ns[kind] / (double)core->n;
            reading.fastest_ns[kind] =
                pace_faster(reading.fastest_ns[kind], core->fastest_ns[kind]);
        }
    }
    for (int kind = 0; kind < PACE_KINDS; kind++)
        reading.piece_ns[kind] /= weights;
    double *fastest_ns = fastest_of(pace->asked_cores);
    *fastest_ns = pace_faster(*fastest_ns, reading.fastest_ns[PACE_COMPUTING]);
    free_pace(pace);
    return reading;
}

double pace_slowdown(struct pace_reading reading, int n_cores) {
    double fastest_ns = n_cores > 0 ? *fastest_of(n_cores) : 0;
    return fastest_ns > 0 ? reading.piece_ns[PACE_COMPUTING] / fastest_ns : 0;
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
    } while ((double)clock_now_ns(CLOCK_MONOTONIC) - from_ns < longest_ns && !interrupt_signal());
    return false;
}
