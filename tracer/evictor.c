#include "tracer/evictor.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/clock.h"
#include "base/memory.h"
#include "host/cores.h"
#include "processor/processor.h"

#define LINE_BYTES 64
#define HUGE_PAGE  (2u << 20) /* so that its lines spread evenly over a cache */
/* What others have had of a core's cache when one of them has had its turn: all, surely. In sizes
 * of the cache. */
#define PART    2
#define PARTS   16
#define TURN_NS 4000000
#define PASSES  2 /* until lines that are to be kept are */
/* Of the lines, these are looked at: a small part, which leaves the cache to whoever has it. */
#define LOOKED_AT 8
#define PRIORITY  50
#define LOOKS     4 /* one of so many times */
#define MOST      0.9
#define ATTEMPTS  10 /* others may use the caches meanwhile */
/* Lines that are timed together where one alone cannot be told: an AMD processor's clock counts in
 * steps of 21 ticks, and a line comes from the next cache in 15 more. More lines at once would be
 * worse: a single one that comes from memory makes it seem that all are gone. */
#define TOGETHER 4

/* As long as others have a core that a thread shares with 1, 3 or 7 of them. */
static const uint64_t holds_ns[] = {4000000, 12000000, 28000000};
#define N_HOLDS (sizeof holds_ns / sizeof *holds_ns)
static const double pause_ns[2] = {8e6, 20e6}, look_ns[2] = {3e5, 3e6}, retry_ns[2] = {1e7, 3e7};

struct line {
    uint32_t next;        /* of all, in random order: no prefetcher guesses it */
    uint32_t next_looked; /* of those looked at */
    char rest[LINE_BYTES - 2 * sizeof(uint32_t)];
};

struct core_evictor {
    struct evictor *evictor;
    pthread_t thread;
    int core;
    gsl_rng *random;
    struct line *lines; /* half of the cache */
    size_t n_lines, n_looked;
    size_t together;                /* lines timed at once; 0: where a line was cannot be told */
    double there_ticks, gone_ticks; /* so many lines, all in the core's cache, or none */
    double *ticks;                  /* scratch, n_looked */
    struct evictions done;
};

struct evictor {
    size_t cache_bytes;
    volatile char *memory; /* PARTS parts, for all cores; only read */
    _Atomic bool ends;
    size_t n_cores;
    struct core_evictor *cores;
};

/* ---- memory ---- */

static void read_part(const struct evictor *evictor, size_t n) {
    size_t bytes = PART * evictor->cache_bytes;
    const volatile char *part = evictor->memory + n % PARTS * bytes;
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        (void)part[i];
}

/* As threads do that have the core one after the other, each with its own data. */
static void use_caches(const struct evictor *evictor, uint64_t from_ns, uint64_t until_ns) {
    size_t turn = 0;
    for (uint64_t now_ns = from_ns; now_ns < until_ns; now_ns = clock_now_ns(CLOCK_MONOTONIC))
        if (now_ns >= from_ns + turn * TURN_NS)
            read_part(evictor, turn++);
}

static void prime(const struct core_evictor *core) {
    uint32_t at = 0;
    for (size_t i = 0; i < PASSES * core->n_lines; i++)
        at = ((volatile struct line *)core->lines)[at].next;
}

/* Times reading the lines looked at, `together` at once, in ticks. Returns the number of times. */
static size_t look(struct core_evictor *core, size_t together) {
    size_t n = core->n_looked / together;
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t before = processor_ticks_after_loads();
        for (size_t k = 0; k < together; k++)
            at = ((volatile struct line *)core->lines)[at].next_looked;
        core->ticks[i] = (double)(processor_ticks_after_loads() - before);
    }
    return n;
}

/* The share of the lines that are still there. */
static double look_survived(struct core_evictor *core) {
    size_t n = look(core, core->together);
    double gone = 0; /* groups */
    for (size_t i = 0; i < n; i++) {
        double share =
            (core->ticks[i] - core->there_ticks) / (core->gone_ticks - core->there_ticks);
        double lines = round(share * (double)core->together);
        gone += fmin(fmax(lines / (double)core->together, 0), 1);
    }
    return 1 - gone / (double)n;
}

static double quantile(const struct core_evictor *core, size_t n, double share) {
    return gsl_stats_quantile_from_sorted_data(core->ticks, 1, n, share);
}

/* How long it takes to read a line, nobody says. What has left the core's cache is in the next one
 * at best. Nearly all that are there must be read faster than nearly all that are gone. */
static bool calibrate_for(struct core_evictor *core, size_t together) {
    read_part(core->evictor, 0);
    prime(core);
    size_t n = look(core, together);
    gsl_sort(core->ticks, 1, n);
    core->there_ticks = quantile(core, n, 0.5);
    double slowest = quantile(core, n, MOST);
    prime(core);
    read_part(core->evictor, 0);
    look(core, together);
    gsl_sort(core->ticks, 1, n);
    core->gone_ticks = quantile(core, n, 0.25);
    core->together = slowest < quantile(core, n, 1 - MOST) ? together : 0;
    return core->together > 0;
}

/* Rings through all the lines, and through those looked at. */
static void link_lines(struct core_evictor *core) {
    uint32_t *order = memory_alloc(core->n_lines, sizeof *order);
    for (size_t i = 0; i < core->n_lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = core->n_lines - 1; i > 1; i--) { /* line 0 stays: it begins both rings */
        size_t other = 1 + gsl_rng_uniform_int(core->random, i);
        uint32_t line = order[i];
        order[i] = order[other];
        order[other] = line;
    }
    for (size_t i = 0; i < core->n_lines; i++)
        core->lines[order[i]].next = order[(i + 1) % core->n_lines];
    for (size_t i = 0; i < core->n_looked; i++)
        core->lines[order[i * LOOKED_AT]].next_looked = order[(i + 1) % core->n_looked * LOOKED_AT];
    free(order);
}

/* ---- the thread of a core ---- */

static void sleep_between(struct core_evictor *core, const double ns[2]) {
    double wait_ns = ns[0] + (ns[1] - ns[0]) * gsl_rng_uniform(core->random);
    const struct timespec wait = {.tv_nsec = (long)wait_ns};
    nanosleep(&wait, NULL);
}

static struct trace_eviction *begin(struct core_evictor *core, enum trace_eviction_kind kind,
                                    uint64_t planned_ns) {
    struct trace_eviction *eviction = VECTOR_ADD(&core->done);
    *eviction = (struct trace_eviction){.from_ns = clock_now_ns(CLOCK_MONOTONIC),
                                        .planned_ns = planned_ns,
                                        .cpu = (uint32_t)core->core,
                                        .kind = kind};
    return eviction;
}

static void hold(struct core_evictor *core) {
    uint64_t planned_ns = holds_ns[gsl_rng_uniform_int(core->random, N_HOLDS)];
    struct trace_eviction *eviction = begin(core, EVICTION_HOLD, planned_ns);
    use_caches(core->evictor, eviction->from_ns, eviction->from_ns + planned_ns);
    eviction->to_ns = clock_now_ns(CLOCK_MONOTONIC);
}

static void prime_and_look(struct core_evictor *core) {
    struct trace_eviction *eviction = begin(core, EVICTION_PRIME, 0);
    read_part(core->evictor, 0);
    prime(core);
    eviction->to_ns = clock_now_ns(CLOCK_MONOTONIC);
    sleep_between(core, look_ns);
    eviction = begin(core, EVICTION_PROBE, 0);
    eviction->survived = look_survived(core);
    eviction->to_ns = clock_now_ns(CLOCK_MONOTONIC);
}

static void *evict(void *context) {
    struct core_evictor *core = context;
    while (!core->evictor->ends) {
        sleep_between(core, pause_ns);
        if (core->together > 0 && gsl_rng_uniform_int(core->random, LOOKS) == 0)
            prime_and_look(core);
        else
            hold(core);
    }
    return NULL;
}

static void calibrate(struct core_evictor *core) {
    bool tells = false;
    for (int i = 0; i < ATTEMPTS && !tells; i++) {
        if (i > 0)
            sleep_between(core, retry_ns);
        tells = calibrate_for(core, 1) || calibrate_for(core, TOGETHER);
    }
}

/* Calibrates and ends. */
static void *prepare(void *context) {
    calibrate(context);
    return NULL;
}

/* ---- all of them ---- */

static bool start(struct core_evictor *core, void *(*routine)(void *)) {
    return cores_start(&core->thread, core->core, PRIORITY, routine, core);
}

static void make_core(struct core_evictor *core, struct evictor *evictor, int number) {
    size_t bytes = evictor->cache_bytes / 2;
    *core = (struct core_evictor){.evictor = evictor, .core = number};
    core->random = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(core->random, (unsigned long)number + 1);
    core->n_lines = bytes / LINE_BYTES / LOOKED_AT * LOOKED_AT;
    core->n_looked = core->n_lines / LOOKED_AT;
    size_t whole_pages = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE; /* else none is huge */
    core->lines = aligned_alloc(HUGE_PAGE, whole_pages);
    core->ticks = memory_alloc(core->n_looked, sizeof *core->ticks);
    if (core->lines) {
        madvise(core->lines, whole_pages, MADV_HUGEPAGE);
        link_lines(core);
    }
}

static void free_evictor(struct evictor *evictor) {
    for (size_t i = 0; i < evictor->n_cores; i++) {
        struct core_evictor *core = &evictor->cores[i];
        gsl_rng_free(core->random);
        free(core->lines);
        free(core->ticks);
        free(core->done.items);
    }
    free((char *)evictor->memory);
    free(evictor->cores);
    free(evictor);
}

static void make_cores(struct evictor *evictor) {
    int *numbers = cores_allowed(&evictor->n_cores);
    evictor->cores = memory_alloc(evictor->n_cores, sizeof *evictor->cores);
    for (size_t i = 0; i < evictor->n_cores; i++)
        make_core(&evictor->cores[i], evictor, numbers[i]);
    free(numbers);
}

/* One core after the other, so that they do not disturb each other. */
static int calibrate_all(struct evictor *evictor, struct error *error) {
    for (size_t i = 0; i < evictor->n_cores; i++) {
        struct core_evictor *core = &evictor->cores[i];
        if (!core->lines)
            return error_set(error, "there is no memory for it");
        if (!start(core, prepare))
            return error_set(error, "only root may take cores from a program");
        pthread_join(core->thread, NULL);
    }
    return 0;
}

struct evictor *evictor_start(struct error *error) {
    long cache_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (cache_bytes < LOOKED_AT * LINE_BYTES * 2) {
        error_set(error, "the size of the cores' caches is not known");
        return NULL;
    }
    struct evictor *evictor = memory_alloc(1, sizeof *evictor);
    evictor->cache_bytes = (size_t)cache_bytes;
    char *memory = memory_alloc(PARTS * PART, evictor->cache_bytes);
    memset(memory, 1, PARTS * PART * evictor->cache_bytes); /* pages of their own */
    evictor->memory = memory;
    make_cores(evictor);
    if (calibrate_all(evictor, error) != 0) {
        free_evictor(evictor);
        return NULL;
    }
    for (size_t i = 0; i < evictor->n_cores; i++)
        if (!start(&evictor->cores[i], evict)) {
            error_set(error, "there is no room for a thread on each core");
            evictor->n_cores = i;
            free(evictor_stop(evictor).items);
            return NULL;
        }
    return evictor;
}

bool evictor_sees_displacement(const struct evictor *evictor) {
    for (size_t i = 0; i < evictor->n_cores; i++)
        if (evictor->cores[i].together > 0)
            return true;
    return false;
}

struct evictions evictor_stop(struct evictor *evictor) {
    struct evictions all = {0};
    evictor->ends = true;
    for (size_t i = 0; i < evictor->n_cores; i++) {
        const struct core_evictor *core = &evictor->cores[i];
        pthread_join(core->thread, NULL);
        for (size_t k = 0; k < core->done.count; k++)
            *VECTOR_ADD(&all) = core->done.items[k];
    }
    free_evictor(evictor);
    return all;
}
