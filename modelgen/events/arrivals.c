#include "modelgen/events/arrivals.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>

#include "base/memory.h"

#define SWEEPS        60    /* of Gibbs sampling, ... */
#define BURN_IN       10    /* ... the first of which still remember where it began */
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

/* ---- drawing those that nobody waited for ---- */

static bool same_source(const struct estimator *estimator, size_t a, size_t b) {
    return b < estimator->arrivals->n &&
           request(estimator, a)->source == request(estimator, b)->source;
}

static void draw(const struct estimator *estimator, size_t r, gsl_rng *random) {
    double low = (double)request(estimator, r)->from_ns;
    double high = (double)request(estimator, r)->to_ns;
    if (r > 0 && same_source(estimator, r, r - 1))
        low = fmax(low, estimator->arrivals->at_ns[r - 1]);
    if (same_source(estimator, r, r + 1))
        high = fmin(high, estimator->arrivals->at_ns[r + 1]);
    if (low < high)
        estimator->arrivals->at_ns[r] = low + gsl_rng_uniform(random) * (high - low);
}

static void draw_all(struct estimator *estimator) {
    struct arrivals *arrivals = estimator->arrivals;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    double weight = (double)arrivals->n * (SWEEPS - BURN_IN);
    for (size_t r = 0; r < arrivals->n; r++)
        estimator->arrivals->at_ns[r] = (double)request(estimator, r)->to_ns;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t r = 0; r < arrivals->n; r++) {
            if (!is_waited_for(request(estimator, r)))
                draw(estimator, r, random);
            if (sweep >= BURN_IN)
                arrivals->response_ns +=
                    ((double)request(estimator, r)->end_ns - arrivals->at_ns[r]) / weight;
        }
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

/* When the wait for it began, or the last one before it came, if that was later. */
static double vain_wait_ns(const struct estimator *estimator, size_t r) {
    const struct request *ended = request(estimator, r);
    const struct trace_thread *thread = &estimator->trace->threads[ended->wait.thread];
    double from_ns = (double)thread->records[ended->wait.number].start_ns;
    if (r > 0 && same_source(estimator, r, r - 1))
        from_ns = fmax(from_ns, (double)request(estimator, r - 1)->to_ns);
    return fmax((double)ended->to_ns - from_ns, 0);
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

/* Each source has its share of the arrivals. */
static void test_randomness(struct estimator *estimator) {
    struct arrivals *arrivals = estimator->arrivals;
    double *waits = memory_alloc(arrivals->n, sizeof *waits);
    for (size_t r = 0; r < arrivals->n; r++) {
        if (!is_waited_for(request(estimator, r)))
            continue;
        const struct request_source *source =
            &estimator->requests->sources.items[request(estimator, r)->source];
        waits[arrivals->n_waited++] = vain_wait_ns(estimator, r) * arrivals->rate_hz / 1e9 *
                                      (double)source->n_requests / (double)arrivals->n;
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
