#include "modelgen/events/arrivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>

#include "base/memory.h"

#define DRAWS         20    /* of all arrivals, of which the mean response time is taken */
#define LONGEST_RUN   2000  /* requests: more in a row that nobody waited for are cut */
#define KS_5_PER_CENT 1.358 /* D * sqrt(n) is larger in 5 % of samples (Kolmogorov 1933) */

struct estimator {
    const struct trace *trace;
    const struct requests *requests;
    struct arrivals *arrivals;
};

static const struct request *request(const struct estimator *estimator, size_t r) {
    return &estimator->requests->all.items[r];
}

static bool is_waited_for(const struct request *request) {
    return !request_event_is_none(request->wait);
}

/* ---- drawing those that nobody waited for ----
 *
 * A run of such requests ends with one that left nothing behind. Between two takings so many come
 * as a Poisson process brings, but never fewer than have been taken: the number that is left behind
 * each taking is a Markov chain, which ends at 0. It is drawn backwards (forward filtering,
 * backward sampling: Rabiner 1989). */

/* A run: from the request `first` on, `n` of one source. */
struct run {
    size_t first, n;
    double *mean; /* arrivals expected before each taking, since the one before */
    double *left; /* per taking and number left behind: its weight, forward; row by row */
    int *came;    /* per taking: how many came, in the present draw */
};

static double to_ns(const struct estimator *estimator, size_t r) {
    return (double)request(estimator, r)->to_ns;
}

/* From when on what is taken by request `first + i` may have come. */
static double since_ns(const struct estimator *estimator, const struct run *run, size_t i) {
    return i > 0 ? to_ns(estimator, run->first + i - 1)
                 : (double)request(estimator, run->first)->from_ns;
}

static double poisson(double mean, double count) {
    return exp(count * log(mean) - mean - lgamma(count + 1));
}

/* More than this come before one taking in none of a million cases. */
static size_t most_at_once(double mean) {
    return (size_t)(mean + 6 * sqrt(mean) + 10);
}

/* The weight of `left` being left behind taking i, by those behind the one before: weights[y] gets
 * the part of y. Gives the sum. */
static double weigh(const struct run *run, size_t i, size_t left, double *weights) {
    size_t most = most_at_once(run->mean[i]), low = left + 1 > most ? left + 1 - most : 0;
    const double *before = &run->left[(i - 1) * run->n];
    double sum = 0;
    for (size_t y = low; y <= left + 1 && y < run->n; y++) {
        double weight = before[y] * poisson(run->mean[i], (double)(left + 1 - y));
        if (weights)
            weights[y] = weight;
        sum += weight;
    }
    return sum;
}

static void filter(struct run *run) {
    for (size_t i = 0; i < run->n; i++) {
        double *row = &run->left[i * run->n], sum = 0;
        for (size_t left = 0; left + i < run->n; left++) {
            row[left] =
                i == 0 ? poisson(run->mean[0], (double)left + 1) : weigh(run, i, left, NULL);
            sum += row[left];
        }
        for (size_t left = 0; left + i < run->n && sum > 0; left++)
            row[left] /= sum;
    }
}

static void draw_counts(const struct run *run, double *weights, gsl_rng *random) {
    size_t left = 0;
    for (size_t i = run->n; i-- > 1;) {
        memset(weights, 0, run->n * sizeof *weights);
        double pick = gsl_rng_uniform(random) * weigh(run, i, left, weights);
        size_t before = 0;
        while (before < left + 1 && before + 1 < run->n && pick >= weights[before])
            pick -= weights[before++];
        run->came[i] = (int)(left + 1 - before);
        left = before;
    }
    run->came[0] = (int)left + 1;
}

static void draw_times(const struct estimator *estimator, const struct run *run, gsl_rng *random) {
    double *at_ns = &estimator->arrivals->at_ns[run->first];
    for (size_t i = 0; i < run->n; i++) {
        double low = since_ns(estimator, run, i), high = to_ns(estimator, run->first + i);
        for (int k = 0; k < run->came[i]; k++)
            at_ns[k] = low + gsl_rng_uniform(random) * (high - low);
        gsl_sort(at_ns, 1, (size_t)run->came[i]);
        at_ns += run->came[i];
    }
}

static double response_of(const struct estimator *estimator, size_t r) {
    return (double)request(estimator, r)->end_ns - estimator->arrivals->at_ns[r];
}

/* Of the draws, `n` times each, the one whose responses are nearest to the mean of all draws': one
 * draw alone may have a load that is quite unlike the others'. Gives that mean, of the sum over the
 * run's requests. */
static double keep_typical(const struct estimator *estimator, const struct run *run,
                           const double *draws_ns) {
    double responses_ns[DRAWS] = {0}, mean_ns = 0;
    double *at_ns = &estimator->arrivals->at_ns[run->first];
    for (int i = 0; i < DRAWS; i++) {
        for (size_t k = 0; k < run->n; k++)
            responses_ns[i] += (double)request(estimator, run->first + k)->end_ns -
                               draws_ns[(size_t)i * run->n + k];
        mean_ns += responses_ns[i] / DRAWS;
    }
    int typical = 0;
    for (int i = 1; i < DRAWS; i++)
        if (fabs(responses_ns[i] - mean_ns) < fabs(responses_ns[typical] - mean_ns))
            typical = i;
    memcpy(at_ns, &draws_ns[(size_t)typical * run->n], run->n * sizeof *at_ns);
    return mean_ns;
}

static void draw_run(const struct estimator *estimator, struct run run, gsl_rng *random) {
    double whole_ns =
        fmax(to_ns(estimator, run.first + run.n - 1) - since_ns(estimator, &run, 0), 1);
    run.mean = memory_alloc(run.n, sizeof *run.mean);
    run.left = memory_alloc(run.n * run.n, sizeof *run.left);
    run.came = memory_alloc(run.n, sizeof *run.came);
    double *weights = memory_alloc(run.n, sizeof *weights);
    for (size_t i = 0; i < run.n; i++)
        run.mean[i] = (double)run.n *
                      fmax(to_ns(estimator, run.first + i) - since_ns(estimator, &run, i), 1e-3) /
                      whole_ns;
    filter(&run);
    double *draws_ns = memory_alloc(DRAWS * run.n, sizeof *draws_ns);
    for (int i = 0; i < DRAWS; i++) {
        draw_counts(&run, weights, random);
        draw_times(estimator, &run, random);
        memcpy(&draws_ns[(size_t)i * run.n], &estimator->arrivals->at_ns[run.first],
               run.n * sizeof *draws_ns);
    }
    estimator->arrivals->response_ns += keep_typical(estimator, &run, draws_ns);
    free(draws_ns);
    free(weights);
    free(run.came);
    free(run.left);
    free(run.mean);
}

static size_t run_from(const struct estimator *estimator, size_t first) {
    size_t n = 1;
    while (n < LONGEST_RUN && first + n < estimator->arrivals->n &&
           request(estimator, first + n)->source == request(estimator, first)->source &&
           !is_waited_for(request(estimator, first + n)))
        n++;
    return n;
}

static void draw_all(struct estimator *estimator) {
    struct arrivals *arrivals = estimator->arrivals;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t r = 0; r < arrivals->n;) {
        size_t n = 1;
        if (is_waited_for(request(estimator, r))) {
            arrivals->at_ns[r] = to_ns(estimator, r);
            arrivals->response_ns += response_of(estimator, r);
        } else {
            n = run_from(estimator, r);
            draw_run(estimator, (struct run){.first = r, .n = n}, random);
        }
        r += n;
    }
    arrivals->response_ns /= (double)arrivals->n;
    gsl_rng_free(random);
}

/* ---- what they are like ---- */

static void find_rate(struct arrivals *arrivals) {
    double first_ns = INFINITY, last_ns = 0;
    for (size_t r = 0; r < arrivals->n; r++) {
        first_ns = fmin(first_ns, arrivals->at_ns[r]);
        last_ns = fmax(last_ns, arrivals->at_ns[r]);
    }
    arrivals->rate_hz = (double)(arrivals->n - 1) * 1e9 / (last_ns - first_ns);
}

/* How long nothing had come when the request did, at least since `waits_ns`, when the first of
 * those that waited then began to. Which of them takes it may depend on when it comes. */
static double vain_wait_ns(const struct estimator *estimator, size_t r, double waits_ns) {
    const struct request *ended = request(estimator, r);
    if (r > 0 && request(estimator, r - 1)->source == ended->source)
        waits_ns = fmax(waits_ns, to_ns(estimator, r - 1));
    return fmax((double)ended->to_ns - waits_ns, 0);
}

/* How far the sorted values are from exponential ones of mean 1. */
static double distance_from_exponential(const double *sorted, size_t n) {
    double distance = 0;
    for (size_t i = 0; i < n; i++) {
        double expected = 1 - exp(-sorted[i]);
        distance = fmax(distance, fmax((double)(i + 1) / (double)n - expected,
                                       expected - (double)i / (double)n));
    }
    return distance;
}

/* Each source has its share of the arrivals. From the last request of each to its first. */
static void test_randomness(struct estimator *estimator) {
    struct arrivals *arrivals = estimator->arrivals;
    const struct request_source *sources = estimator->requests->sources.items;
    double *waits = memory_alloc(arrivals->n, sizeof *waits);
    double waits_ns = INFINITY;
    for (size_t r = arrivals->n; r-- > 0;) {
        const struct request *ended = request(estimator, r);
        const struct request_source *source = &sources[ended->source];
        if (r + 1 == arrivals->n || request(estimator, r + 1)->source != ended->source)
            waits_ns = source->idle_ns < UINT64_MAX ? (double)source->idle_ns : INFINITY;
        if (!is_waited_for(ended))
            continue;
        const struct trace_thread *thread = &estimator->trace->threads[ended->wait.thread];
        waits_ns = fmin(waits_ns, (double)thread->records[ended->wait.number].start_ns);
        waits[arrivals->n_waited++] = vain_wait_ns(estimator, r, waits_ns) * arrivals->rate_hz /
                                      1e9 * (double)source->n_requests / (double)arrivals->n;
    }
    if (arrivals->n_waited > 0) {
        gsl_sort(waits, 1, arrivals->n_waited);
        arrivals->distance = distance_from_exponential(waits, arrivals->n_waited);
    }
    arrivals->is_random = arrivals->distance * sqrt((double)arrivals->n_waited) <= KS_5_PER_CENT;
    free(waits);
}

struct arrivals arrivals_estimate(const struct trace *trace, const struct requests *requests) {
    struct arrivals arrivals = {.n = requests->all.count};
    arrivals.at_ns = memory_alloc(arrivals.n, sizeof *arrivals.at_ns);
    struct estimator estimator = {trace, requests, &arrivals};
    draw_all(&estimator);
    find_rate(&arrivals);
    test_randomness(&estimator);
    return arrivals;
}

void arrivals_free(struct arrivals *arrivals) {
    free(arrivals->at_ns);
    *arrivals = (struct arrivals){0};
}
