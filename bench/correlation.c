/* How well block logs are matched by cross-correlation: logs whose truth is known, disturbed.
 *
 * usage: correlation SEED synthetic                  one program made up
 *        correlation SEED TRACE LOG                  a recording and a log of ftrace's block events
 *                                                    that names its threads, by the same clock
 * options before SEED: -s  the log does not tell its threads apart at all
 *                      -w  scheduling was not recorded
 *                      -n  the program and the log have nothing to do with each other
 *
 * Disturbed is: the log's clock, by up to 10 s and 100 ppm; its threads' numbers. One line of
 * figures: found (0, 1), threads paired rightly, threads with requests, lag error at its worst in
 * us, drift error in ppm, requests of calls, of these to the right call, to another call of the
 * right thread, others' requests, of these taken for the program's, sum of the account's requests,
 * all requests, correlation at the peak, elsewhere, chance, CPU seconds. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"
#include "formats/trace.h"
#include "tracer/attribution.h"
#include "tracer/block_text.h"
#include "tracer/correlate.h"

#define BASE_NS                                                                                    \
    1000e9 /* what the log's clock shows when the run begins, if it is not disturbed               \
            */
#define MOST_LAG   10e9
#define MOST_DRIFT 1e-4

struct scenario {
    struct trace *trace; /* NULL: threads are made up */
    struct trace_thread *threads;
    size_t n_threads;
    double run_ns;
    struct block_requests requests; /* in the run's time; the threads' true numbers */
    int *thread;                    /* the truth, per request: index of its thread; -1 */
    size_t *call;
};

/* ---- made up ---- */

struct disk {
    double free_ns;
};

struct made {
    struct scenario *scenario;
    gsl_rng *random;
    double service_ns, compute_ns, hits, burst_ns;
};

static double exponential(struct made *made, double mean) {
    return gsl_ran_exponential(made->random, mean);
}

static void add_request(struct made *made, int tid, double queued_ns, double issued_ns,
                        double completed_ns, uint32_t bytes) {
    *VECTOR_ADD(&made->scenario->requests) =
        (struct block_request){.block = {.queued_ns = (uint64_t)queued_ns,
                                         .issued_ns = (uint64_t)issued_ns,
                                         .completed_ns = (uint64_t)completed_ns,
                                         .device = 8u << 20,
                                         .tid = tid,
                                         .bytes = bytes,
                                         .kind = BLOCK_READ}};
}

/* One request, first come, first served. Gives its end. */
static double serve(struct made *made, struct disk *disk, int tid, double now_ns, uint32_t bytes) {
    double queued_ns = now_ns + 2e3 + exponential(made, 2e3);
    double issued_ns = fmax(queued_ns + 3e3, disk->free_ns);
    double done_ns = issued_ns + made->service_ns * gsl_ran_lognormal(made->random, -0.125, 0.5);
    disk->free_ns = done_ns;
    add_request(made, tid, queued_ns, issued_ns, done_ns, bytes);
    return done_ns;
}

/* The next thing that happens is always that of the thread whose time is least: the disk serves in
 * that order. The last of the threads is another process. */
static void make_up(struct scenario *scenario, gsl_rng *random) {
    struct made made = {.scenario = scenario, .random = random};
    size_t n = 1 + gsl_rng_uniform_int(random, 8);
    scenario->n_threads = n;
    scenario->threads = memory_alloc(n, sizeof *scenario->threads);
    scenario->run_ns = 1e9 * (8 + 50 * gsl_rng_uniform(random));
    made.service_ns = 1e3 * exp(gsl_ran_flat(random, log(80), log(8000)));
    made.compute_ns = made.service_ns * (double)n * gsl_ran_flat(random, 0.5, 4);
    made.hits = gsl_ran_flat(random, 0, 0.5);
    made.burst_ns = 1e9 * gsl_ran_flat(random, 0.5, 3);
    struct disk disk = {0};
    double *now = memory_alloc(n + 1, sizeof *now), other_ns = made.compute_ns * 4 / (double)n;
    enum api api = API_pread;
    struct {
        struct trace_record *items;
        size_t count, capacity;
    } *records = memory_alloc(n, sizeof *records);
    for (;;) {
        size_t t = 0;
        for (size_t i = 1; i <= n; i++)
            if (now[i] < now[t])
                t = i;
        if (now[t] > scenario->run_ns)
            break;
        if (t == n) {
            double done_ns = serve(&made, &disk, 77, now[t], 16384);
            now[t] = done_ns + exponential(&made, other_ns);
            continue;
        }
        double start_ns = now[t] + exponential(&made, made.compute_ns), at_ns = start_ns + 1e3;
        if (gsl_rng_uniform(random) < 0.01)
            start_ns += exponential(&made, made.burst_ns), at_ns = start_ns + 1e3;
        unsigned k = gsl_rng_uniform(random) < made.hits ? 0 : 1 + (gsl_rng_uniform(random) < 0.2);
        for (unsigned i = 0; i < k; i++)
            at_ns = serve(&made, &disk, (int)(100 + t), at_ns, 65536);
        at_ns += 5e3 + exponential(&made, 3e4); /* until the thread is back on a core */
        *VECTOR_ADD(&records[t]) =
            (struct trace_record){.start_ns = (uint64_t)start_ns,
                                  .duration_ns = (uint64_t)(at_ns - start_ns),
                                  .api = api,
                                  .value = (int32_t)(65536 * (k ? k : 1))};
        now[t] = at_ns;
    }
    for (size_t t = 0; t < n; t++)
        scenario->threads[t] = (struct trace_thread){.tid = (int)(100 + t),
                                                     .start_routine = "worker",
                                                     .n_records = records[t].count,
                                                     .records = records[t].items};
    free(records);
    free(now);
}

/* ---- recorded ---- */

static void load(struct scenario *scenario, const char *trace, const char *log) {
    struct error error;
    struct block_events events = {0};
    scenario->trace = trace_load(trace, &error);
    if (!scenario->trace || block_text_read(&events, log, &error) < 0) {
        fprintf(stderr, "correlation: %s\n", error.text);
        exit(1);
    }
    scenario->threads = scenario->trace->threads;
    scenario->n_threads = scenario->trace->n_threads;
    scenario->run_ns = (double)scenario->trace->meta.run_ns;
    size_t kept = 0;
    for (size_t i = 0; i < events.count; i++)
        if (events.items[i].time_ns > scenario->trace->meta.start_mono_ns) {
            events.items[kept] = events.items[i];
            events.items[kept++].time_ns -= scenario->trace->meta.start_mono_ns;
        }
    events.count = kept;
    requests_pair(&scenario->requests, &events);
    free(events.items);
}

/* ---- truth and disturbance ---- */

static struct attribution_run run_of(const struct scenario *scenario) {
    return (struct attribution_run){scenario->threads, scenario->n_threads,
                                    (uint64_t)scenario->run_ns};
}

static void keep_truth(struct scenario *scenario) {
    struct attribution_run run = run_of(scenario);
    struct attribution truth = attribute_directly(&scenario->requests, &run, 0);
    scenario->thread = truth.threads;
    scenario->call = truth.calls;
    truth.threads = NULL;
    truth.calls = NULL;
    attribution_free(&truth);
}

static uint64_t disturbed(uint64_t time_ns, double offset_ns, double drift) {
    return time_ns ? (uint64_t)(offset_ns + (1 + drift) * (double)time_ns) : 0;
}

/* Leaves `hidden` the issuers' numbers in the order of their first request. */
static size_t *disturb(struct scenario *scenario, gsl_rng *random, bool one_issuer,
                       double *offset_ns, double *drift, size_t *n_issuers, int *true_tids) {
    *offset_ns = BASE_NS + gsl_ran_flat(random, -MOST_LAG, MOST_LAG);
    *drift = gsl_ran_flat(random, -MOST_DRIFT, MOST_DRIFT);
    struct map numbers = MAP_EMPTY;
    size_t *issuers = memory_alloc(scenario->requests.count, sizeof *issuers);
    *n_issuers = 0;
    for (size_t i = 0; i < scenario->requests.count; i++) {
        struct trace_block *block = &scenario->requests.items[i].block;
        int number = one_issuer ? 0 : map_get(&numbers, (uint64_t)block->tid, -1);
        if (number < 0 || *n_issuers == 0) {
            number = (int)(*n_issuers)++;
            true_tids[number] = block->tid;
            map_put(&numbers, (uint64_t)block->tid, number);
        }
        issuers[i] = (size_t)number;
        block->tid = 500000 - 7 * number;
        block->queued_ns = disturbed(block->queued_ns, *offset_ns, *drift);
        block->issued_ns = disturbed(block->issued_ns, *offset_ns, *drift);
        block->completed_ns = disturbed(block->completed_ns, *offset_ns, *drift);
    }
    map_free(&numbers);
    return issuers;
}

/* ---- the figures ---- */

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Threads with enough requests to be paired, and those of them that are, rightly. */
static void count_pairs(const struct scenario *scenario, const struct correlation *found,
                        const int *true_tids, size_t n_issuers, bool one_issuer, size_t *right,
                        size_t *all) {
    *right = *all = 0;
    for (size_t t = 0; t < scenario->n_threads; t++) {
        size_t requests = 0;
        for (size_t i = 0; i < scenario->requests.count; i++)
            requests += scenario->thread[i] == (int)t && scenario->call[i] != ATTRIBUTION_NO_CALL;
        if (requests < 20)
            continue;
        ++*all;
        for (size_t p = 0; p < found->n_pairs; p++) {
            const struct correlate_pair *pair = &found->pairs[p];
            if (one_issuer ? pair->user == CORRELATE_NONE
                           : pair->user == t && pair->block < n_issuers &&
                                 true_tids[pair->block] == scenario->threads[t].tid) {
                ++*right;
                break;
            }
        }
    }
}

static void judge(const struct scenario *scenario, const size_t *issuers, size_t n_issuers,
                  const int *true_tids, bool one_issuer, double offset_ns, double drift) {
    double before = cpu_seconds();
    struct attribution_run run = run_of(scenario);
    struct busy *blocks = attribution_requests(&scenario->requests, issuers, n_issuers);
    struct correlate_input input = {.blocks = blocks,
                                    .n_blocks = n_issuers,
                                    .least_lag_ns = -BASE_NS - 1.1 * MOST_LAG,
                                    .most_lag_ns = -BASE_NS + 1.1 * MOST_LAG,
                                    .most_drift = MOST_DRIFT};
    struct correlation found = attribution_correlate(&run, &scenario->requests, input);
    struct attribution attribution = attribute_by_pairs(&scenario->requests, issuers, &run, &found);
    double took = cpu_seconds() - before, worst_ns = 0;
    size_t right_pairs, pairs, calls = 0, right = 0, near = 0, others = 0, taken = 0, sum = 0;
    count_pairs(scenario, &found, true_tids, n_issuers, one_issuer, &right_pairs, &pairs);
    for (int cause = 0; cause < BLOCK_CAUSES; cause++)
        sum += attribution.account.of[cause].requests;
    for (size_t i = 0; i < scenario->requests.count; i++) {
        bool same = attribution.threads[i] == scenario->thread[i];
        if (scenario->thread[i] < 0) {
            others++;
            taken += !same;
        } else if (scenario->call[i] != ATTRIBUTION_NO_CALL) {
            const struct trace_block *block = &scenario->requests.items[i].block;
            double true_ns = ((double)block->issued_ns - offset_ns) / (1 + drift);
            worst_ns =
                fmax(worst_ns, fabs(clock_line_at(found.line, (double)block->issued_ns) - true_ns));
            calls++;
            right += same && attribution.calls[i] == scenario->call[i];
            near += same && attribution.calls[i] != scenario->call[i];
        }
    }
    printf("%d %zu %zu %.1f %.2f %zu %zu %zu %zu %zu %zu %zu %.3f %.3f %.2g %.2f\n", found.found,
           right_pairs, pairs, worst_ns / 1e3, 1e6 * fabs((1 + found.line.drift) * (1 + drift) - 1),
           calls, right, near, others, taken, sum, scenario->requests.count, found.lag_height,
           found.lag_next, 1 - found.lag_confidence, took);
    attribution_free(&attribution);
    correlation_free(&found);
    attribution_free_signals(blocks, n_issuers);
}

int main(int argc, char **argv) {
    bool one_issuer = false, unrelated = false, unscheduled = false;
    for (int option; (option = getopt(argc, argv, "snw")) != -1;) {
        one_issuer |= option == 's';
        unrelated |= option == 'n';
        unscheduled |= option == 'w';
    }
    argc -= optind;
    argv += optind;
    if (argc < 2 || (argc < 3 && strcmp(argv[1], "synthetic") != 0)) {
        fprintf(stderr, "usage: correlation [-s] [-w] [-n] SEED synthetic|TRACE LOG\n");
        return 2;
    }
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(random, (unsigned long)strtoul(argv[0], NULL, 10));
    struct scenario scenario = {0};
    if (argc == 3)
        load(&scenario, argv[1], argv[2]);
    else
        make_up(&scenario, random);
    if (unrelated) { /* the log of another program's run */
        struct scenario other = {0};
        make_up(&other, random);
        scenario.requests = other.requests;
    }
    for (size_t t = 0; unscheduled && t < scenario.n_threads; t++)
        scenario.threads[t].n_slices = 0;
    keep_truth(&scenario);
    double offset_ns, drift;
    size_t n_issuers;
    int *true_tids = memory_alloc(scenario.requests.count + 1, sizeof *true_tids);
    size_t *issuers =
        disturb(&scenario, random, one_issuer, &offset_ns, &drift, &n_issuers, true_tids);
    judge(&scenario, issuers, n_issuers, true_tids, one_issuer, offset_ns, drift);
    gsl_rng_free(random);
    return 0;
}
