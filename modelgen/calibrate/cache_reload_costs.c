#include "modelgen/calibrate/cache_reload_costs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/calibrate/cache_pollution.h"

/* Standard errors by which a cost must differ from none; of several runs less will do, if it
 * differs by as much as chance has it in a twentieth of cases at most from one run to the next. */
#define CLEARLY        4.0
#define CLEARLY_ENOUGH 3.0
#define FEW_RUNS       3
#define BY_CHANCE      0.05
/* Threads that do the same mostly work on data of their own. What they seem to share counts by half
 * where it differs from nothing by so many standard errors, less where by fewer. */
#define DOUBTED 2.0
/* Of what a thread brings back, the least share that the horizon shows; and until it is known. */
#define LEAST_SEEN 0.5
#define MAX_ROUNDS 30
/* The most that a turn can be told to displace. */
#define MOST_DISPLACED 0.98
/* What differs by more standard deviations is something else. */
#define OUTLIER 6.0

/* After one disturbance: CPU more than expected, and disturbances more than expected. */
struct excess {
    double cpu_ns, variance, away_ns;
    double disturbances[N_COSTS];
    double expected_error_ns; /* standard error of what was expected */
    size_t plan, run;
};

struct excesses {
    struct excess *items;
    size_t count, capacity;
};

/* After disturbance number `d`, the first of its fragment: how far one has got that was disturbed
 * before, its age does not tell. False: nothing is to be expected. */
static bool measure_excess(const struct fragments *work, size_t d, size_t end,
                           struct excess *excess) {
    const struct disturbance *disturbance = &work->disturbances.items[d];
    const struct fragment *fragment = &work->fragments.items[disturbance->fragment];
    const struct fragment_kind *kind = &work->kinds[fragment->kind];
    struct fragment_rest expected;
    if (isnan(fragment->until_ns) ||
        !fragments_expected_rest(work, kind, disturbance->at_ns - fragment->from_ns, &expected))
        return false;
    double limit_ns = OUTLIER * sqrt(kind->variance);
    double excess_ns = fragment->until_ns - disturbance->at_ns - expected.ns;
    *excess = (struct excess){.cpu_ns = fmin(fmax(excess_ns, -limit_ns), limit_ns),
                              .variance = kind->variance,
                              .away_ns = disturbance->away_ns,
                              .expected_error_ns = sqrt(expected.variance),
                              .plan = disturbance->plan};
    for (size_t p = 0; p < N_COSTS; p++)
        excess->disturbances[p] = -expected.disturbances[p];
    for (; d < end && work->disturbances.items[d].at_ns < fragment->until_ns; d++)
        excess->disturbances[work->disturbances.items[d].plan]++;
    return true;
}

/* Of the role's threads, in run number `run`. */
static void measure_excesses(const struct fragments *work, size_t run, const size_t *role_of,
                             size_t role, struct excesses *excesses) {
    for (size_t t = 0; t < work->trace->n_threads; t++) {
        size_t end = work->first_disturbance[t + 1];
        for (size_t d = work->first_disturbance[t]; role_of[t] == role && d < end; d++) {
            struct excess excess;
            bool is_first =
                d == work->first_disturbance[t] ||
                work->disturbances.items[d - 1].fragment != work->disturbances.items[d].fragment;
            if (!is_first || !measure_excess(work, d, end, &excess))
                continue;
            excess.run = run;
            *VECTOR_ADD(excesses) = excess;
        }
    }
}

struct costs {
    bool known;
    double mean_ns[N_COSTS], variance[N_COSTS];
};

/* What a row counts: those of kinds that are all alike tell most. */
static double weight_of(const struct excess *excess) {
    const double least = 1e5; /* ns: nothing is alike beyond this */
    return 1 / (excess->variance + least * least);
}

/* What was expected of a run's rows comes from the same undisturbed fragments: if it was too much
 * for one, it was for all. */
static void add_expectations(const struct excesses *excesses, const gsl_matrix *inverse,
                             struct costs *costs) {
    double part[N_COSTS] = {0};
    for (size_t i = 0; i < excesses->count; i++) {
        const struct excess *row = &excesses->items[i];
        bool is_last = i + 1 == excesses->count || row[1].run != row->run;
        for (size_t p = 0; p < N_COSTS; p++) {
            part[p] +=
                weight_of(row) * gsl_matrix_get(inverse, p, row->plan) * row->expected_error_ns;
            costs->variance[p] += is_last ? part[p] * part[p] : 0;
            part[p] = is_last ? 0 : part[p];
        }
    }
}

/* Each fragment's own, which is no other's: there is one row of each. */
static void add_variances(const struct excesses *excesses, const gsl_matrix *inverse,
                          struct costs *costs) {
    for (size_t i = 0; i < excesses->count; i++) {
        const struct excess *row = &excesses->items[i];
        double residual = row->cpu_ns;
        for (size_t p = 0; p < N_COSTS; p++)
            residual -= row->disturbances[p] * costs->mean_ns[p];
        for (size_t p = 0; p < N_COSTS; p++) {
            double part = weight_of(row) * gsl_matrix_get(inverse, p, row->plan) * residual;
            costs->variance[p] += part * part;
        }
    }
}

/* Costs such that the excesses after disturbances of each plan are those of the disturbances in
 * them, on the average: sum over rows of a plan w * (cpu - disturbances . costs) = 0. */
static struct costs solve(const struct excesses *excesses, const bool *used) {
    struct costs costs = {.known = true};
    gsl_matrix *sums = gsl_matrix_calloc(N_COSTS, N_COSTS);
    gsl_vector *excess = gsl_vector_calloc(N_COSTS), *solution = gsl_vector_alloc(N_COSTS);
    for (size_t i = 0; i < excesses->count; i++) {
        const struct excess *row = &excesses->items[i];
        double weight = weight_of(row);
        *gsl_vector_ptr(excess, row->plan) += weight * row->cpu_ns;
        for (size_t p = 0; p < N_COSTS; p++)
            *gsl_matrix_ptr(sums, row->plan, p) += used[p] ? weight * row->disturbances[p] : 0;
    }
    for (size_t p = 0; p < N_COSTS; p++)
        if (!used[p]) { /* costs nothing, by definition */
            for (size_t other = 0; other < N_COSTS; other++)
                gsl_matrix_set(sums, p, other, p == other);
            gsl_vector_set(excess, p, 0);
        }
    gsl_permutation *order = gsl_permutation_alloc(N_COSTS);
    gsl_matrix *inverse = gsl_matrix_alloc(N_COSTS, N_COSTS);
    int sign;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    costs.known = gsl_linalg_LU_decomp(sums, order, &sign) == GSL_SUCCESS &&
                  gsl_linalg_LU_solve(sums, order, excess, solution) == GSL_SUCCESS &&
                  gsl_linalg_LU_invert(sums, order, inverse) == GSL_SUCCESS;
    gsl_set_error_handler(handler);
    for (size_t p = 0; costs.known && p < N_COSTS; p++)
        costs.mean_ns[p] = gsl_vector_get(solution, p);
    if (costs.known) {
        add_variances(excesses, inverse, &costs);
        add_expectations(excesses, inverse, &costs);
    }
    gsl_matrix_free(inverse);
    gsl_permutation_free(order);
    gsl_vector_free(solution);
    gsl_vector_free(excess);
    gsl_matrix_free(sums);
    return costs;
}

/* Neighbours that would cost less the longer the thread is away are taken together. */
static void make_monotonous(struct cache_reload_cost *refill, double *weights) {
    double mean[EVICTION_PLANS], weight[EVICTION_PLANS];
    size_t members[EVICTION_PLANS], blocks = 0;
    for (size_t i = 0; i < refill->n_points; i++) {
        mean[blocks] = refill->points[i].cpu_ns;
        weight[blocks] = weights[i];
        members[blocks++] = 1;
        while (blocks > 1 && mean[blocks - 2] > mean[blocks - 1]) {
            double sum = weight[blocks - 2] + weight[blocks - 1];
            mean[blocks - 2] =
                (mean[blocks - 2] * weight[blocks - 2] + mean[blocks - 1] * weight[blocks - 1]) /
                sum;
            weight[blocks - 2] = sum;
            members[blocks - 2] += members[blocks - 1];
            blocks--;
        }
    }
    for (size_t block = 0, i = 0; block < blocks; block++)
        for (size_t m = 0; m < members[block]; m++)
            refill->points[i++].cpu_ns = fmax(mean[block], 0);
}

static double median_away(const struct excesses *excesses, size_t plan, double *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < excesses->count; i++)
        if (excesses->items[i].plan == plan)
            scratch[n++] = excesses->items[i].away_ns;
    gsl_sort(scratch, 1, n);
    return n < FRAGMENTS_FEW ? NAN : gsl_stats_median_from_sorted_data(scratch, 1, n);
}

/* Within the horizon a thread brings back all but a part, by the rule of model/refill.h, whose
 * pace is the last point's true cost. Gives the share that is seen. */
static double complete(struct cache_reload_cost *refill) {
    double seen_ns = refill->points[refill->n_points - 1].cpu_ns, share = 1;
    for (int i = 0; i < MAX_ROUNDS && seen_ns > 0; i++)
        share = -expm1(-FRAGMENTS_HORIZON_NS * share / seen_ns);
    share = fmax(share, LEAST_SEEN);
    for (size_t i = 0; i < refill->n_points; i++)
        refill->points[i].cpu_ns /= share;
    return share;
}

/* How fast threads that do the same displace what is another one's own, where nobody could look: by
 * what it costs to come back after a turn, as a share of what all of it costs. */
static double displaced_in_turns(const struct cache_reload_cost *refill, const struct costs *costs,
                                 const bool *used, const double *away_ns, double seen) {
    if (!used[COST_TURN] || costs->variance[COST_TURN] <= 0)
        return 0;
    const struct refill_curve curve = {refill->n_points, refill->points};
    double whole_ns = seen * refill_whole_ns(curve, away_ns[COST_TURN]);
    double share = whole_ns > 0 ? costs->mean_ns[COST_TURN] / whole_ns : 0;
    return -log1p(-fmin(fmax(share, 0), MOST_DISPLACED)) / away_ns[COST_TURN];
}

/* The share that is a thread's own of what it has in the cache. Evictions take all of it, threads
 * that do the same leave what they share. Who is moved to another core finds what is its own
 * nowhere near, and the rest in that core's cache; and who comes back after another one's turn
 * misses only what is its own, as far as that one displaced it. */
static double own_share(const struct cache_reload_cost *refill, const struct costs *costs,
                        const bool *used, const double *away_ns, double seen) {
    const size_t kinds[] = {COST_MOVED, COST_TURN};
    const struct refill_curve curve = {refill->n_points, refill->points};
    double own = 0, weights = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t kind = kinds[k];
        if (!used[kind] || costs->variance[kind] <= 0)
            continue;
        double taken = kind == COST_TURN ? -expm1(-refill->displaces_per_ns * away_ns[kind]) : 1;
        double whole_ns = taken * seen * refill_whole_ns(curve, away_ns[kind]);
        own += whole_ns * costs->mean_ns[kind] / costs->variance[kind];
        weights += whole_ns * whole_ns / costs->variance[kind];
    }
    double shared = weights > 0 ? 1 - own / weights : 0;
    if (shared <= 0)
        return 1;
    double errors = shared * sqrt(weights);
    return 1 - fmin(shared, 1) / (1 + pow(DOUBTED / errors, 2));
}

struct estimate {
    bool used[N_COSTS]; /* kinds of disturbances that were seen often enough */
    double away_ns[N_COSTS];
    struct costs costs;
    size_t n_points; /* of evictions */
    struct refill_point points[EVICTION_PLANS];
    double weights[EVICTION_PLANS];
    double mean_ns; /* of all points */
    double errors;  /* standard errors by which that differs from no cost */
};

static struct estimate estimate_costs(const struct excesses *excesses) {
    struct estimate estimate = {0};
    double sum = 0, weighted = 0;
    double *scratch = memory_alloc(excesses->count + 1, sizeof *scratch);
    for (size_t p = 0; p < N_COSTS; p++) {
        estimate.away_ns[p] = median_away(excesses, p, scratch);
        estimate.used[p] = !isnan(estimate.away_ns[p]);
    }
    free(scratch);
    const struct costs *costs = &estimate.costs;
    estimate.costs = solve(excesses, estimate.used);
    for (size_t p = 0; p < EVICTION_PLANS && costs->known; p++) {
        size_t n = estimate.n_points;
        bool longer = n == 0 || estimate.away_ns[p] > estimate.points[n - 1].away_ns;
        if (!estimate.used[p] || !longer || costs->variance[p] <= 0)
            continue;
        estimate.weights[n] = 1 / costs->variance[p];
        sum += 1 / costs->variance[p];
        weighted += costs->mean_ns[p] / costs->variance[p];
        estimate.points[n] = (struct refill_point){estimate.away_ns[p], costs->mean_ns[p]};
        estimate.n_points++;
    }
    estimate.mean_ns = estimate.n_points ? weighted / sum : 0;
    estimate.errors = estimate.n_points ? weighted / sqrt(sum) : 0;
    return estimate;
}

static double mean_without(const struct excesses *excesses, size_t run) {
    struct excesses others = {0};
    for (size_t i = 0; i < excesses->count; i++)
        if (excesses->items[i].run != run)
            *VECTOR_ADD(&others) = excesses->items[i];
    double mean_ns = estimate_costs(&others).mean_ns;
    free(others.items);
    return mean_ns;
}

/* Is there a cost? What makes fragments differ comes and goes within a run: they are not so
 * independent of each other as the standard errors have it, but the runs are. By how much the mean
 * changes with each of them left out tells its true standard error (the jackknife, Quenouille
 * 1949); a single run out of the ordinary makes that as large as the mean. */
static bool is_clear(const struct excesses *excesses, const struct estimate *estimate) {
    size_t n_runs = excesses->count ? excesses->items[excesses->count - 1].run + 1 : 0;
    if (n_runs < FEW_RUNS)
        return estimate->errors >= CLEARLY;
    if (estimate->errors < CLEARLY_ENOUGH)
        return false;
    double n = (double)n_runs;
    double *means = memory_alloc(n_runs, sizeof *means);
    for (size_t run = 0; run < n_runs; run++)
        means[run] = mean_without(excesses, run);
    double error = (n - 1) / sqrt(n) * gsl_stats_sd(means, 1, n_runs);
    free(means);
    return estimate->mean_ns >= error * gsl_cdf_tdist_Qinv(BY_CHANCE, n - 1);
}

/* Leaves the refill without points where nothing can be told. `looked`: how fast it displaces is
 * known. */
static void estimate_reload_cost(const struct excesses *excesses, bool looked,
                                 struct cache_reload_cost *refill) {
    struct estimate estimate = estimate_costs(excesses);
    if (!is_clear(excesses, &estimate))
        return;
    const struct costs *costs = &estimate.costs;
    refill->n_points = estimate.n_points;
    memcpy(refill->points, estimate.points, sizeof refill->points);
    make_monotonous(refill, estimate.weights);
    double seen = complete(refill);
    if (!looked)
        refill->displaces_per_ns =
            displaced_in_turns(refill, costs, estimate.used, estimate.away_ns, seen);
    double own = own_share(refill, costs, estimate.used, estimate.away_ns, seen);
    for (size_t i = 0; i < refill->n_points; i++)
        refill->points[i].cpu_ns *= own;
    if (refill->points[refill->n_points - 1].cpu_ns <= 0)
        refill->n_points = 0;
}

/* ---- all of it ---- */

/* Of a run's threads, allocated; new ones are added. */
static size_t *number_roles(const struct trace *trace, struct map *numbers,
                            struct cache_reload_costs *reload_costs) {
    size_t *role_of = memory_alloc(trace->n_threads, sizeof *role_of);
    for (size_t t = 0; t < trace->n_threads; t++) {
        uint64_t role = fragments_role(trace, t);
        int number = map_get(numbers, role, -1);
        if (number < 0) {
            number = (int)reload_costs->count;
            map_put(numbers, role, number);
            *VECTOR_ADD(reload_costs) = (struct cache_reload_cost){.role = role};
        }
        role_of[t] = (size_t)number;
    }
    return role_of;
}

/* A team's threads spin for each other: what they take between two calls is not all their work. */
static bool has_team(const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (api_is_openmp((enum api)trace->threads[t].records[r].api))
                return true;
    return false;
}

static void measure_run(const struct trace *trace, size_t run, const size_t *role_of,
                        size_t n_roles, struct windows *windows, struct excesses *excesses) {
    if (trace->n_evictions == 0 || !trace->meta.has_slices || has_team(trace))
        return;
    cache_pollution_add(trace, role_of, n_roles, windows);
    struct fragments work = fragments_divide(trace);
    for (size_t r = 0; r < n_roles; r++)
        measure_excesses(&work, run, role_of, r, &excesses[r]);
    fragments_free(&work);
}

struct cache_reload_costs cache_reload_costs_measure(struct trace *const *runs, size_t n_runs) {
    struct cache_reload_costs reload_costs = {0};
    struct map numbers = MAP_EMPTY;
    size_t **role_of = memory_alloc(n_runs, sizeof(size_t *));
    for (size_t i = 0; i < n_runs; i++)
        role_of[i] = number_roles(runs[i], &numbers, &reload_costs);
    struct windows windows = {0};
    struct excesses *excesses = memory_alloc(reload_costs.count, sizeof *excesses);
    for (size_t i = 0; i < n_runs; i++)
        measure_run(runs[i], i, role_of[i], reload_costs.count, &windows, excesses);
    double *per_ns = memory_alloc(reload_costs.count, sizeof *per_ns);
    bool looked = cache_pollution_fit(&windows, reload_costs.count, per_ns);
    for (size_t r = 0; r < reload_costs.count; r++) {
        reload_costs.items[r].displaces_per_ns = per_ns[r];
        estimate_reload_cost(&excesses[r], looked, &reload_costs.items[r]);
        free(excesses[r].items);
    }
    cache_pollution_free(&windows);
    for (size_t i = 0; i < n_runs; i++)
        free(role_of[i]);
    free(role_of);
    free(per_ns);
    free(excesses);
    map_free(&numbers);
    return reload_costs;
}
