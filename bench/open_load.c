/* Whether the intervals under open load are honest: how many of so many seeds' 95 % intervals
 * contain the exact mean and 99th percentile of the response time.
 *
 * M/M/1: the response time is exponential. M/M/c: Erlang's C and the sum of wait and service.
 * M/D/1: Pollaczek and Khinchine, and Franx 2001 (A simple solution for the M/D/c waiting time
 * distribution). M/H2/1: the transform of the response time has two poles.
 *
 * usage: open_load [seeds [utilisations [precision [threads [systems [first seed]]]]]]
 * Exits 1 when a share of intervals is outside 93 to 97 %, by more than such a number of seeds may
 * be off by chance (three standard deviations of a binomial; none for 1000 seeds and more). */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulator/crew.h"
#include "simulator/simulator.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/stations.h"

#define MS 1e6 /* in nanoseconds; the mean service time */

static const struct system {
    const char *name;
    enum station_kind kind;
    int servers;
} systems[] = {
    {"M/M/1", STATION_EXPONENTIAL, 1},
    {"M/M/4", STATION_EXPONENTIAL, 4},
    {"M/D/1", STATION_CONSTANT, 1},
    {"M/H2/1", STATION_HYPEREXPONENTIAL, 1},
};

/* One figure of all seeds. */
struct coverage {
    double exact;
    atomic_int covered;
    double *half_width; /* by seed; in parts of the value */
};

struct run {
    const struct model *model;
    double precision;
    struct coverage mean, p99;
    double *events; /* by seed */
    int first_seed;
};

static void count(struct coverage *coverage, int seed, struct estimate estimate) {
    if (fabs(estimate.mean - coverage->exact) <= estimate.half_width)
        atomic_fetch_add(&coverage->covered, 1);
    coverage->half_width[seed] = estimate.half_width / estimate.mean;
}

static void run_seed(void *context, int seed, int worker) {
    (void)worker;
    struct run *run = context;
    struct sim_config config = {.seed = (uint64_t)(run->first_seed + seed),
                                .precision = run->precision};
    struct sim_result result;
    struct error error;
    if (sim_predict(run->model, &config, &result, &error) != 0) {
        fprintf(stderr, "open_load: %s\n", error.text);
        exit(1);
    }
    run->events[seed] = result.events;
    count(&run->mean, seed, result.response_ns);
    count(&run->p99, seed, result.response_p99_ns);
    sim_result_free(&result);
}

static double mean_of(const double *values, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i];
    return sum / n;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of the share that the seeds would have by chance. */
static double deviation(int seeds) {
    return sqrt(0.95 * 0.05 / seeds);
}

static bool is_honest(const struct coverage *coverage, int seeds) {
    double share = (double)coverage->covered / seeds;
    double leeway = seeds >= 1000 ? 0 : 3 * deviation(seeds);
    return fabs(share - 0.95) <= 0.02 + leeway;
}

static bool measure(const struct system *system, double utilisation, int seeds, double precision,
                    int threads, int first_seed) {
    struct station station = {system->kind, system->servers, utilisation, MS};
    struct model *model = station_build(&station);
    struct run run = {.model = model, .precision = precision, .first_seed = first_seed};
    run.mean.exact = station_mean_ns(&station);
    run.p99.exact = station_quantile_ns(&station, 0.99);
    run.mean.half_width = memory_alloc((size_t)seeds, sizeof(double));
    run.p99.half_width = memory_alloc((size_t)seeds, sizeof(double));
    run.events = memory_alloc((size_t)seeds, sizeof(double));
    double start = seconds_now();
    crew_run(threads, 0, seeds, run_seed, &run);
    printf("%-7s %11.2f %6d  %8.2f %7.1f %% %6.1f %%  %8.2f %7.1f %% %6.1f %%  %7.2f %8.3f\n",
           system->name, utilisation, seeds, run.mean.exact / MS, 100.0 * run.mean.covered / seeds,
           100 * mean_of(run.mean.half_width, seeds), run.p99.exact / MS,
           100.0 * run.p99.covered / seeds, 100 * mean_of(run.p99.half_width, seeds),
           mean_of(run.events, seeds) * 1e-6, (seconds_now() - start) / seeds);
    fflush(stdout);
    bool is_good = is_honest(&run.mean, seeds) && is_honest(&run.p99, seeds);
    free(run.mean.half_width);
    free(run.p99.half_width);
    free(run.events);
    model_free(model);
    return is_good;
}

int main(int argc, char **argv) {
    int seeds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
    char *list = memory_strdup(argc > 2 ? argv[2] : "0.5,0.8,0.9,0.95");
    double precision = argc > 3 ? strtod(argv[3], NULL) : 0;
    int threads = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 1;
    const char *wanted = argc > 5 ? argv[5] : "M/M/1,M/M/4,M/D/1,M/H2/1";
    int first_seed = argc > 6 ? (int)strtol(argv[6], NULL, 10) : 1;
    if (seeds < 1 || threads < 1 || first_seed < 1) {
        fprintf(stderr, "usage: open_load [seeds [utilisations [precision [threads [systems "
                        "[first seed]]]]]]\n");
        return 2;
    }
    printf("Of 95 %% intervals, a share of %.1f to %.1f %% is chance with %d seeds.\n",
           100 * (0.95 - 2 * deviation(seeds)), 100 * (0.95 + 2 * deviation(seeds)), seeds);
    printf("%-7s %11s %6s  %8s %9s %8s  %8s %9s %8s  %7s %8s\n", "system", "utilisation", "seeds",
           "mean ms", "covered", "width", "p99 ms", "covered", "width", "Mevents", "CPU s");
    bool is_good = true;
    for (char *text = strtok(list, ","); text; text = strtok(NULL, ","))
        for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
            if (strstr(wanted, systems[i].name))
                is_good &=
                    measure(&systems[i], strtod(text, NULL), seeds, precision, threads, first_seed);
    free(list);
    return is_good ? 0 : 1;
}
