#include "simulator/steady.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "simulator/crew.h"
#include "simulator/engine.h"
#include "simulator/histogram.h"

#define REPLICATIONS      20
#define CONFIDENCE        0.95
#define DEFAULT_PRECISION 0.05
#define DEFAULT_EVENTS    1e8

/* In the first stage that is looked at, and in the measured window, of each replication. A 99th
 * percentile of its own needs that many. */
#define LEAST_TASKS    500
#define MEASURED_TASKS 10000

/* The measured window is at most so many times longer than all before it. */
#define PILOT_SHARE 8

/* How much longer than the pilot says: its idea of the scatter is rough, and mostly too low. */
#define SAFETY 1.5

/* Of these are drifts and growth sure. A false drift costs one more stage, false growth the
 * figures. */
#define DRIFT_CONFIDENCE  0.99
#define GROWTH_CONFIDENCE 0.9999

/* The part of the events after which the pilot has to do. */
#define PILOT_EVENTS 0.4

struct stages {
    const struct plan *plan;
    uint64_t seed;
    double precision, max_events;
    int n_workers;
    struct engine *engines[REPLICATIONS];
    struct replication *rows;    /* of the last stage ... */
    double before[REPLICATIONS]; /* ... and the response times of the one before; NaN: none */
    double since_ns, now_ns;     /* of the last stage */
};

/* ---- stages ---- */

static void begin_one(void *context, int i, int worker) {
    (void)worker;
    struct stages *stages = context;
    engine_begin(stages->engines[i], stages->seed, (uint64_t)i);
}

static void go_on_one(void *context, int i, int worker) {
    (void)worker;
    struct stages *stages = context;
    struct engine *engine = stages->engines[i];
    engine_count_anew(engine);
    bool is_over = engine_go_on(engine, stages->now_ns);
    engine_settle(engine);
    free(stages->rows[i].row);
    replication_read(&stages->rows[i], engine);
    if (is_over && !stages->rows[i].failure[0])
        snprintf(stages->rows[i].failure, sizeof stages->rows[i].failure,
                 "arrivals never end, but the run does after %.3g s: give its length (horizon)",
                 engine->now_ns * 1e-9);
}

/* One more stage, up to `until_ns`. The first failure in the order of the replications counts. */
static int go_on(struct stages *stages, double until_ns, struct error *error) {
    for (int i = 0; i < REPLICATIONS; i++)
        stages->before[i] = stages->rows[i].row ? stages->rows[i].row[METRIC_RESPONSE_NS] : NAN;
    stages->since_ns = stages->now_ns;
    stages->now_ns = until_ns;
    crew_run(stages->n_workers, 0, REPLICATIONS, go_on_one, stages);
    for (int i = 0; i < REPLICATIONS; i++)
        if (stages->rows[i].failure[0])
            return error_set(error, "%s (seed %llu)", stages->rows[i].failure,
                             (unsigned long long)stages->seed);
    return 0;
}

static double window_ns(const struct stages *stages) {
    return stages->now_ns - stages->since_ns;
}

static double count_events(const struct stages *stages) {
    double events = 0;
    for (int i = 0; i < REPLICATIONS; i++)
        events += stages->engines[i]->events;
    return events;
}

static struct estimate estimate_of(const struct stages *stages, size_t column) {
    return replication_estimate(stages->rows, REPLICATIONS, column);
}

/* What comes, where the model does not mark tasks. */
static double fewest_tasks(const struct stages *stages) {
    double fewest = INFINITY;
    if (!stages->plan->has_tasks)
        return stages->plan->offered_hz * window_ns(stages) * 1e-9;
    for (int i = 0; i < REPLICATIONS; i++)
        fewest = fmin(fewest, stages->rows[i].row[METRIC_TASKS]);
    return fewest;
}

/* ---- what the stages show ---- */

/* How sure it is that the mean of `values` is not 0: Student's t over its quantile; NaNs are left
 * out. */
static double significance(const double *values, double confidence) {
    double n = 0, mean = 0, squares = 0; /* Welford 1962 */
    for (int i = 0; i < REPLICATIONS; i++) {
        if (isnan(values[i]))
            continue;
        n++;
        double deviation = values[i] - mean;
        mean += deviation / n;
        squares += deviation * (values[i] - mean);
    }
    if (n < 2 || mean == 0)
        return 0;
    double t = mean / sqrt(squares / (n - 1) / n);
    return t / gsl_cdf_tdist_Pinv(0.5 + confidence / 2, n - 1);
}

/* Does the mean response time still differ from that of the stage before? */
static bool drifts(const struct stages *stages) {
    double changes[REPLICATIONS];
    for (int i = 0; i < REPLICATIONS; i++)
        changes[i] = stages->rows[i].row[METRIC_RESPONSE_NS] - stages->before[i];
    return fabs(significance(changes, DRIFT_CONFIDENCE)) > 1;
}

/* It has grown, and was never empty, in all replications. A queue that does settle is empty again
 * and again, and so is one at the limit in half of them. */
static bool grows(const struct stages *stages, int queue) {
    double growth[REPLICATIONS];
    size_t column = replication_object_column(queue);
    for (int i = 0; i < REPLICATIONS; i++) {
        growth[i] = stages->rows[i].row[column + OBJECT_GROWTH_HZ];
        if (stages->rows[i].row[column + OBJECT_LEAST] <= 0)
            return false;
    }
    return significance(growth, GROWTH_CONFIDENCE) > 1;
}

/* The queue that grows fastest; PLAN_NONE: none does. */
static int growing_queue(const struct stages *stages) {
    int fastest = PLAN_NONE;
    double most = 0;
    if (stages->plan->offered_hz == 0)
        return PLAN_NONE; /* there are no more than there are clients */
    for (int i = 0; i < stages->plan->n_objects; i++) {
        enum object_kind kind = stages->plan->objects[i].kind;
        if ((kind != OBJECT_QUEUE && kind != OBJECT_LINK) || !grows(stages, i))
            continue;
        double growth = estimate_of(stages, replication_object_column(i) + OBJECT_GROWTH_HZ).mean;
        if (growth > most) {
            most = growth;
            fastest = i;
        }
    }
    return fastest;
}

/* ---- figures of all replications together ---- */

/* `whole`, with the interval by how the replications' own values lie around it. */
static struct estimate section(const struct stages *stages, double whole, size_t column) {
    double n = 0, squares = 0;
    for (int i = 0; i < REPLICATIONS; i++) {
        double own = stages->rows[i].row[column];
        if (isnan(own))
            continue;
        n++;
        squares += (own - whole) * (own - whole);
    }
    if (n < 2)
        return (struct estimate){n > 0 ? whole : 0, n > 0 ? INFINITY : 0};
    double t = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2, n - 1);
    return (struct estimate){whole, t * sqrt(squares / (n - 1) / n)};
}

/* How many more values than `share` of all are below some place: the mean over the replications,
 * and the half width of its interval if the place were the quantile. As with a binomial's, the
 * variance then is that seen here times share (1 - share) over what is seen here of both: few
 * values above a place are few, and little scattered, together (score interval: Wilson 1927). */
struct surplus {
    double mean, half_width;
};

static struct surplus find_surplus(const struct stages *stages, const double *below, double share) {
    double squares = 0, all = 0, all_below = 0;
    for (int i = 0; i < REPLICATIONS; i++) {
        all += stages->engines[i]->response.n;
        all_below += below[i];
    }
    double part = all_below / all;
    for (int i = 0; i < REPLICATIONS; i++) {
        double own = below[i] - part * stages->engines[i]->response.n;
        squares += own * own;
    }
    double seen = part * (1 - part);
    double variance = seen > 0 ? squares / (REPLICATIONS - 1) * share * (1 - share) / seen : 0;
    double mean = (all_below - share * all) / REPLICATIONS;
    double t = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2, REPLICATIONS - 1);
    return (struct surplus){mean, t * sqrt(variance / REPLICATIONS)};
}

static double lowest(const struct surplus *surplus) {
    return surplus->mean - surplus->half_width;
}

static double highest(const struct surplus *surplus) {
    return surplus->mean + surplus->half_width;
}

/* Where a value that rises from `before` to `after` within a bucket is 0. */
static double crossing(uint64_t bucket, double before, double after) {
    double start = histogram_start(bucket), end = histogram_start(bucket + 1);
    return after > before ? start + (end - start) * fmin(1, -before / (after - before)) : start;
}

/* The quantile of all response times, with an interval of those values of which the replications
 * do not contradict that so many are below them. Quantiles of the single replications would
 * scatter too little: what is rare is not in each of them. */
static struct estimate read_quantile(const struct stages *stages, double share) {
    double below[REPLICATIONS] = {0};
    double middle = NAN, low = NAN, high = NAN;
    struct surplus before = find_surplus(stages, below, share);
    for (uint64_t b = 0; b < HISTOGRAM_BUCKETS; b++) {
        uint32_t here = 0;
        for (int i = 0; i < REPLICATIONS; i++) {
            here |= stages->engines[i]->response.buckets[b];
            below[i] += stages->engines[i]->response.buckets[b];
        }
        if (here == 0)
            continue;
        struct surplus after = find_surplus(stages, below, share);
        if (isnan(low) && highest(&after) >= 0)
            low = crossing(b, highest(&before), highest(&after));
        if (isnan(middle) && after.mean >= 0)
            middle = crossing(b, before.mean, after.mean);
        if (lowest(&after) >= 0) {
            high = crossing(b, lowest(&before), lowest(&after));
            break;
        }
        before = after;
    }
    return (struct estimate){middle, fmax(high - middle, middle - low)};
}

/* ---- how long to measure ---- */

/* What the window has to be multiplied by for an interval as narrow as wanted. */
static double needed_factor(struct estimate estimate, double precision) {
    double ratio = estimate.mean > 0 ? estimate.half_width / (precision * estimate.mean) : 0;
    return SAFETY * ratio * ratio;
}

/* By the scatter of this stage's window. The 99th percentile's interval turns out wider than wanted
 * near saturation, where the pilot has seen few of the long busy periods that it hangs on; wanted
 * wider still, it would cover too seldom (bench/open_load.sh). */
static double needed_ns(const struct stages *stages) {
    struct estimate mean = estimate_of(stages, METRIC_RESPONSE_NS);
    double factor = MEASURED_TASKS / fewest_tasks(stages);
    if (mean.mean > 0) {
        factor = fmax(factor, needed_factor(mean, stages->precision));
        factor = fmax(factor, needed_factor(read_quantile(stages, 0.99), stages->precision));
    } else {
        factor = fmax(
            factor, needed_factor(estimate_of(stages, METRIC_CPU_UTILISATION), stages->precision));
    }
    return factor * window_ns(stages);
}

/* How much further the events that are left would do, at the pace so far. */
static double affordable_ns(const struct stages *stages) {
    double used = count_events(stages);
    return stages->now_ns * fmax(stages->max_events - used, 0) / used;
}

/* ---- the study ---- */

/* A hundred arrivals, or the warm-up that was asked for; without arrivals a microsecond: doubling
 * soon gets far. */
static double first_ns(const struct plan *plan) {
    double some = plan->offered_hz > 0 ? 100 * 1e9 / plan->offered_hz : 1e3;
    return fmax(some, plan->warmup_ns);
}

/* What seems to grow is looked at again, long enough to tell how much. */
static double growth_ns(const struct stages *stages) {
    double wanted = window_ns(stages) * MEASURED_TASKS / fewest_tasks(stages);
    return fmax(fmin(wanted, affordable_ns(stages)), window_ns(stages));
}

/* Doubles until it can be said how long to measure. */
static int run_pilot(struct stages *stages, struct steady *steady, struct error *error) {
    if (go_on(stages, first_ns(stages->plan), error) < 0)
        return -1;
    for (;;) {
        if (go_on(stages, 2 * stages->now_ns, error) < 0)
            return -1;
        bool has_few = fewest_tasks(stages) < LEAST_TASKS;
        if (!has_few && growing_queue(stages) != PLAN_NONE &&
            go_on(stages, stages->now_ns + growth_ns(stages), error) < 0)
            return -1;
        steady->growing = has_few ? PLAN_NONE : growing_queue(stages);
        if (steady->growing != PLAN_NONE) {
            steady->regime = REGIME_GROWING;
            return 0;
        }
        bool is_settled = !has_few && !drifts(stages);
        if (is_settled && needed_ns(stages) <= PILOT_SHARE * stages->now_ns)
            return 0;
        if (count_events(stages) >= PILOT_EVENTS * stages->max_events) {
            steady->regime = is_settled ? REGIME_STEADY : REGIME_UNSETTLED;
            return 0;
        }
    }
}

/* At least as long as all before it, so that what is left of the start hardly counts. */
static double measured_ns(const struct stages *stages) {
    return fmax(fmin(needed_ns(stages), affordable_ns(stages)), stages->now_ns);
}

static int run_stages(struct stages *stages, struct steady *steady, struct error *error) {
    crew_run(stages->n_workers, 0, REPLICATIONS, begin_one, stages);
    steady->regime = REGIME_STEADY;
    if (run_pilot(stages, steady, error) < 0)
        return -1;
    if (steady->regime != REGIME_STEADY)
        return 0;
    if (go_on(stages, stages->now_ns + measured_ns(stages), error) < 0)
        return -1;
    steady->growing = growing_queue(stages);
    if (steady->growing != PLAN_NONE)
        steady->regime = REGIME_GROWING;
    return 0;
}

static void read_responses(const struct stages *stages, struct steady *steady) {
    double n = 0, sum_ns = 0;
    for (int i = 0; i < REPLICATIONS; i++) {
        n += stages->engines[i]->response.n;
        sum_ns += stages->engines[i]->response.sum_ns;
    }
    if (n == 0)
        return; /* the model marks no tasks */
    steady->response_ns = section(stages, sum_ns / n, METRIC_RESPONSE_NS);
    steady->response_p50_ns = read_quantile(stages, 0.50);
    steady->response_p95_ns = read_quantile(stages, 0.95);
    steady->response_p99_ns = read_quantile(stages, 0.99);
}

int steady_find(const struct plan *plan, const struct sim_config *config, struct steady *steady,
                struct error *error) {
    struct stages stages = {
        .plan = plan,
        .seed = config->seed,
        .precision = config->precision > 0 ? config->precision : DEFAULT_PRECISION,
        .max_events = config->max_events > 0 ? config->max_events : DEFAULT_EVENTS,
        .n_workers = config->workers > 0 ? config->workers : 1,
        .rows = memory_alloc(REPLICATIONS, sizeof *stages.rows),
    };
    for (int i = 0; i < REPLICATIONS; i++)
        stages.engines[i] = engine_make(plan);
    *steady = (struct steady){.growing = PLAN_NONE, .n = REPLICATIONS, .replications = stages.rows};
    int status = run_stages(&stages, steady, error);
    if (status == 0)
        read_responses(&stages, steady);
    for (int i = 0; i < REPLICATIONS; i++)
        engine_free(stages.engines[i]);
    return status;
}

void steady_free(struct steady *steady) {
    for (int i = 0; i < steady->n; i++)
        free(steady->replications[i].row);
    free(steady->replications);
    *steady = (struct steady){0};
}
