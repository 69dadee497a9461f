#include "modelgen/rewrite/periodic_sleeps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

/* Of the sleeps in one place, but the first of each thread: from the end of the one before to their
 * ends; from when the one before was due to their beginnings; and from there to their ends. Each is
 * due when it would have ended if all periods of the thread were alike: after one that ends late,
 * the next sleep is shorter, if it is until a point in time. */
struct periods {
    double *whole_ns, *since_ns, *asleep_ns;
    size_t n;
};

static bool is_sleep_at(const struct trace_record *record, size_t context) {
    return trace_op(record) == OP_SLEEP && record->context == context;
}

/* Adds those of a thread. */
static void add_periods(struct periods *periods, const struct trace_thread *thread,
                        size_t context) {
    size_t before = periods->n;
    uint64_t origin_ns = 0, last_ns = 0;
    bool any = false;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (!is_sleep_at(at.event, context))
            continue;
        uint64_t end_ns = trace_end_ns(at.event);
        if (any) {
            periods->whole_ns[periods->n] = (double)(end_ns - last_ns);
            periods->since_ns[periods->n] = (double)(at.event->start_ns - origin_ns);
            periods->asleep_ns[periods->n++] = (double)at.event->duration_ns;
        } else {
            origin_ns = end_ns;
        }
        any = true;
        last_ns = end_ns;
    }
    double mean_ns = (double)(last_ns - origin_ns) / (double)(periods->n - before); /* NaN: none */
    for (size_t i = before; i < periods->n; i++)
        periods->since_ns[i] -= (double)(i - before) * mean_ns;
}

/* `most`: how many there are at most. */
static struct periods periods_at(const struct trace *trace, size_t context, size_t most) {
    struct periods periods = {memory_alloc(most, sizeof *periods.whole_ns),
                              memory_alloc(most, sizeof *periods.since_ns),
                              memory_alloc(most, sizeof *periods.asleep_ns), 0};
    for (size_t t = 0; t < trace->n_threads; t++)
        add_periods(&periods, &trace->threads[t], context);
    return periods;
}

/* Does the thread sleep the less the later it begins, and is that no chance? By Spearman's rank
 * correlation, which a few late ones do not move. */
static bool makes_up(const struct periods *periods) {
    size_t n = periods->n;
    double *ranks = memory_alloc(2 * n, sizeof *ranks), freedom = (double)n - 2;
    double r = gsl_stats_spearman(periods->since_ns, 1, periods->asleep_ns, 1, n, ranks);
    free(ranks);
    return r < -evidence.majority && /* NaN: all alike */
           gsl_cdf_tdist_P(r * sqrt(freedom / fmax(1 - r * r, DBL_EPSILON)), freedom) <
               evidence.chance;
}

/* The median; 0: too many are not as long as that. Sorts them. */
static double regular_period(double *whole_ns, size_t n) {
    gsl_sort(whole_ns, 1, n);
    double median_ns = gsl_stats_median_from_sorted_data(whole_ns, 1, n);
    size_t alike = 0;
    for (size_t i = 0; i < n; i++)
        alike += fabs(whole_ns[i] - median_ns) < evidence.jitter * median_ns;
    return (double)alike >= (1 - evidence.unlike_rounds) * (double)n ? median_ns : 0;
}

/* 0: the sleeps there have no period. */
static double period_at(const struct trace *trace, size_t context, size_t n_sleeps) {
    struct periods periods = periods_at(trace, context, n_sleeps);
    double period_ns = (double)periods.n >= evidence.times_alike && makes_up(&periods)
                           ? regular_period(periods.whole_ns, periods.n)
                           : 0;
    free(periods.whole_ns);
    free(periods.since_ns);
    free(periods.asleep_ns);
    return period_ns;
}

static size_t show_as_timer(struct event_log *log, size_t context, double period_ns) {
    size_t found = 0;
    for (struct event_cursor at = event_cursor_of_run(&log->trace); event_cursor_next(&at);)
        if (is_sleep_at(at.event, context)) {
            struct trace_record *timer = event_log_change(log, at.thread, at.number);
            timer->api = ROLE_timer;
            timer->object = (uint64_t)period_ns;
            found++;
        }
    return found;
}

size_t periodic_sleeps_as_timers(struct event_log *log) {
    size_t n_contexts = log->trace.n_contexts, found = 0;
    size_t *sleeps = memory_alloc(n_contexts + 1, sizeof *sleeps);
    for (struct event_cursor at = event_cursor_of_run(&log->trace); event_cursor_next(&at);)
        if (trace_op(at.event) == OP_SLEEP && at.event->context < n_contexts)
            sleeps[at.event->context]++;
    for (size_t c = 0; c < n_contexts; c++) {
        double period_ns =
            (double)sleeps[c] > evidence.times_alike ? period_at(&log->trace, c, sleeps[c]) : 0;
        if (period_ns > 0)
            found += show_as_timer(log, c, period_ns);
    }
    free(sleeps);
    return found;
}
