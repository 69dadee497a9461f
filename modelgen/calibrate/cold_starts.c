#include "modelgen/calibrate/cold_starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "modelgen/events/requests.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"

/* Paces that are tried: each twice the one before. */
#define SHORTEST_PACE_NS 5e4
#define N_PACES          12
/* No pace is longer than most sleeps were: what longer ones cost was not seen. */
#define MOST_SLEEPS 0.95
#define ROUNDS      4 /* of leaving out what is unlike the others */
/* Standard deviations (by the median deviation, of which a normal one has 1.4826). */
#define OUTLIER          6.0
#define NORMAL_DEVIATION 1.4826

/* What a thread did from one answer to the next. */
struct turn {
    double cpu_ns;
    size_t first_sleep, end_sleep; /* in the list of sleeps */
    bool is_unlike;
};

struct turns {
    struct turn *items;
    size_t count, capacity;
    struct {
        double *items; /* ns */
        size_t count, capacity;
    } sleeps;
};

/* ---- from one answer to the next ---- */

struct answer {
    size_t thread;
    uint64_t end_ns;
};

static int compare_answers(const void *a, const void *b) {
    const struct answer *x = a, *y = b;
    if (x->thread != y->thread)
        return (x->thread > y->thread) - (x->thread < y->thread);
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* How long the thread slept before its slice number i; 0: it did not. */
static double slept_before(const struct trace_thread *thread, size_t i) {
    if (i == 0 || thread->slices[i - 1].preempted)
        return 0;
    const struct trace_slice *slice = &thread->slices[i];
    uint64_t woken_ns = slice->wake_ns > 0 ? slice->wake_ns : slice->on_ns;
    uint64_t left_ns = thread->slices[i - 1].off_ns;
    return woken_ns > left_ns ? (double)(woken_ns - left_ns) : 0;
}

static void add_turn(const struct trace_thread *thread, const struct thread_states *timeline,
                     uint64_t from_ns, uint64_t to_ns, double block_cpu_ns, struct turns *turns) {
    struct turn turn = {.cpu_ns = thread_states_cpu(timeline, to_ns) -
                                  thread_states_cpu(timeline, from_ns),
                        .first_sleep = turns->sleeps.count};
    for (size_t i = trace_slice_after(thread, from_ns);
         i < thread->n_slices && thread->slices[i].on_ns < to_ns; i++) {
        double slept_ns = thread->slices[i].on_ns > from_ns ? slept_before(thread, i) : 0;
        if (slept_ns <= 0)
            continue;
        *VECTOR_ADD(&turns->sleeps) = slept_ns;
        turn.cpu_ns -= block_cpu_ns;
    }
    turn.end_sleep = turns->sleeps.count;
    *VECTOR_ADD(turns) = turn;
}

/* A thread's first answer is not held against others: there is its start in it. */
static struct turns find_turns(const struct trace *trace, const struct requests *requests,
                               double block_cpu_ns) {
    struct turns turns = {0};
    size_t n = requests->all.count;
    struct answer *answers = memory_alloc(n + 1, sizeof *answers);
    for (size_t r = 0; r < n; r++)
        answers[r] =
            (struct answer){requests->all.items[r].end.thread, requests->all.items[r].end_ns};
    qsort(answers, n, sizeof *answers, compare_answers);
    for (size_t a = 0; a < n;) {
        const struct trace_thread *thread = &trace->threads[answers[a].thread];
        struct thread_states timeline = thread_states_make(thread);
        for (a++; a < n && answers[a].thread == answers[a - 1].thread; a++)
            if (answers[a].end_ns > answers[a - 1].end_ns)
                add_turn(thread, &timeline, answers[a - 1].end_ns, answers[a].end_ns, block_cpu_ns,
                         &turns);
        thread_states_free(&timeline);
    }
    free(answers);
    return turns;
}

/* ---- how CPU time follows sleep ---- */

/* A line through (x, y): y = level + slope * x, by least squares. */
struct fit {
    double level, slope, slope_error, squares;
    size_t n;
};

static double lost_share(double slept_ns, double pace_ns) {
    return -expm1(-slept_ns / pace_ns);
}

static double lost_in(const struct turns *turns, const struct turn *turn, double pace_ns) {
    double sum = 0;
    for (size_t s = turn->first_sleep; s < turn->end_sleep; s++)
        sum += lost_share(turns->sleeps.items[s], pace_ns);
    return sum;
}

static struct fit fit_line(const struct turns *turns, double pace_ns) {
    struct fit fit = {0};
    double x_mean = 0, y_mean = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < turns->count; i++) {
        const struct turn *turn = &turns->items[i];
        if (turn->is_unlike)
            continue;
        double x = lost_in(turns, turn, pace_ns), y = turn->cpu_ns, n = (double)++fit.n;
        double dx = x - x_mean, dy = y - y_mean; /* Welford 1962 */
        x_mean += dx / n;
        y_mean += dy / n;
        xx += dx * (x - x_mean);
        xy += dx * (y - y_mean);
        yy += dy * (y - y_mean);
    }
    if (fit.n < 3 || xx <= 0)
        return (struct fit){.squares = INFINITY};
    fit.slope = xy / xx;
    fit.level = y_mean - fit.slope * x_mean;
    fit.squares = fmax(yy - fit.slope * xy, 0);
    fit.slope_error = sqrt(fit.squares / (double)(fit.n - 2) / xx);
    return fit;
}

static double residual(const struct turns *turns, const struct turn *turn, const struct fit *fit,
                       double pace_ns) {
    return turn->cpu_ns - fit->level - fit->slope * lost_in(turns, turn, pace_ns);
}

/* Requests that do something else, and those in which something came between, are left out. */
static void leave_out_unlike(struct turns *turns, const struct fit *fit, double pace_ns) {
    double *deviations = memory_alloc(turns->count, sizeof *deviations);
    for (size_t i = 0; i < turns->count; i++)
        deviations[i] = fabs(residual(turns, &turns->items[i], fit, pace_ns));
    gsl_sort(deviations, 1, turns->count);
    double limit =
        OUTLIER * NORMAL_DEVIATION * gsl_stats_median_from_sorted_data(deviations, 1, turns->count);
    for (size_t i = 0; i < turns->count; i++)
        turns->items[i].is_unlike = fabs(residual(turns, &turns->items[i], fit, pace_ns)) > limit;
    free(deviations);
}

static double longest_pace(const struct turns *turns) {
    double *sorted = memory_alloc(turns->sleeps.count, sizeof *sorted);
    memcpy(sorted, turns->sleeps.items, turns->sleeps.count * sizeof *sorted);
    gsl_sort(sorted, 1, turns->sleeps.count);
    double longest_ns =
        gsl_stats_quantile_from_sorted_data(sorted, 1, turns->sleeps.count, MOST_SLEEPS);
    free(sorted);
    return longest_ns;
}

static struct fit best_fit(const struct turns *turns, double longest_ns, double *pace_ns) {
    struct fit best = {.squares = INFINITY};
    double pace = SHORTEST_PACE_NS;
    for (int i = 0; i < N_PACES && pace <= longest_ns; i++, pace *= 2) {
        struct fit fit = fit_line(turns, pace);
        if (fit.squares < best.squares) {
            best = fit;
            *pace_ns = pace;
        }
    }
    return best;
}

static struct fit fit_turns(struct turns *turns, double *pace_ns) {
    double longest_ns = longest_pace(turns);
    struct fit fit = best_fit(turns, longest_ns, pace_ns);
    for (int round = 0; round < ROUNDS && isfinite(fit.squares); round++) {
        leave_out_unlike(turns, &fit, *pace_ns);
        fit = best_fit(turns, longest_ns, pace_ns);
    }
    return fit;
}

struct cold_starts cold_starts_find(const struct trace *recorded, double block_cpu_ns) {
    struct cold_starts starts = {.pace_ns = 1};
    if (!recorded->meta.has_slices)
        return starts;
    struct requests requests = requests_find(recorded);
    struct turns turns = find_turns(recorded, &requests, block_cpu_ns);
    starts.answers = memory_alloc(recorded->n_threads + 1, sizeof *starts.answers);
    for (size_t r = 0; r < requests.all.count; r++) {
        bool *answers = &starts.answers[requests.all.items[r].end.thread];
        starts.n_threads += !*answers;
        *answers = true;
    }
    requests_free(&requests);
    if (turns.sleeps.count > 0) {
        double pace_ns = 1;
        struct fit fit = fit_turns(&turns, &pace_ns);
        starts.n_answers = fit.n;
        bool is_known = isfinite(fit.squares) && fit.level > 0 && fit.slope > 0;
        starts.errors = is_known ? fit.slope / fmax(fit.slope_error, 1) : 0;
        if (starts.errors >= evidence.cold_start_errors) {
            starts.whole_ns = fit.slope;
            starts.pace_ns = pace_ns;
        }
    }
    free(turns.items);
    free(turns.sleeps.items);
    return starts;
}

void cold_starts_free(struct cold_starts *starts) {
    free(starts->answers);
    *starts = (struct cold_starts){0};
}

/* ---- what it is taken from, and who gets it ---- */

/* Spread over twice as long, as the thread gets on at half its speed. */
static void charge(const struct trace_slice *slice, double cost_ns, struct excluded_time *losses) {
    double ran_ns = (double)(slice->off_ns - slice->on_ns);
    double spread_ns = floor(fmin(2 * cost_ns, ran_ns));
    if (spread_ns >= 1)
        *VECTOR_ADD(losses) =
            (struct excluded_interval){slice->on_ns, slice->on_ns + (uint64_t)spread_ns,
                                       fmin(cost_ns / spread_ns, 1), slice->cpu};
}

struct excluded_time cold_starts_time(const struct trace *recorded,
                                      const struct cold_starts *starts) {
    struct excluded_time losses = {0};
    for (size_t t = 0; t < recorded->n_threads && starts->whole_ns > 0; t++) {
        const struct trace_thread *thread = &recorded->threads[t];
        for (size_t i = 0; i < thread->n_slices && starts->answers[t]; i++)
            charge(&thread->slices[i],
                   starts->whole_ns * lost_share(slept_before(thread, i), starts->pace_ns),
                   &losses);
    }
    excluded_time_sort(&losses);
    return losses;
}

void cold_starts_write(const struct cold_starts *starts, struct pool *pool) {
    pool->cold_cpu_ns = starts->whole_ns;
    pool->cold_pace_ns = starts->whole_ns > 0 ? starts->pace_ns : 0;
}
