#include "modelgen/sync/batch_sizes.h"

#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

#define SITE_LIMIT     8    /* call sites with an amount of their own */
#define EQUATION_LIMIT 4000 /* the first ones */
#define RANK_TOLERANCE 1e-6 /* singular values that are smaller, beside the largest, are none */

/* The call sites whose amounts are sought. */
struct sites {
    int n;
    int entry[SITE_LIMIT];
    int of_slot[CLASS_LIMIT]; /* -1: the class has no part in it, or counts one at a time */
};

/* What happened since the counter was known last, at one mutex. */
struct interval {
    double used_up;
    double calls[SITE_LIMIT];
    bool has_start; /* the first one begins with what was there at the start */
};

struct equations {
    gsl_matrix *calls; /* [equation][site] */
    gsl_vector *used_up;
    size_t n;
};

static bool find_sites(const struct monitors *monitors, const struct hypothesis *hypothesis,
                       bool taking, struct sites *sites) {
    *sites = (struct sites){0};
    for (int slot = 0; slot < hypothesis->n_classes; slot++) {
        int weight = hypothesis->weight[slot];
        int entry = monitors->classes[hypothesis->classes[slot]].entry;
        int site = 0;
        sites->of_slot[slot] = -1;
        if (taking ? weight <= 0 : weight >= 0)
            continue;
        while (site < sites->n && sites->entry[site] != entry)
            site++;
        if (site == SITE_LIMIT)
            return false;
        sites->entry[site] = entry;
        sites->n += site == sites->n;
        sites->of_slot[slot] = site;
    }
    return sites->n > 0;
}

static void end_interval(struct interval *interval, const struct sites *sites, bool taking,
                         struct equations *equations) {
    bool any = interval->used_up > 0;
    for (int i = 0; i < sites->n; i++)
        any |= interval->calls[i] > 0;
    /* what takers find at the start nobody has added */
    if (any && (interval->has_start || !taking) && equations->n < EQUATION_LIMIT) {
        for (int i = 0; i < sites->n; i++)
            gsl_matrix_set(equations->calls, equations->n, (size_t)i, interval->calls[i]);
        gsl_vector_set(equations->used_up, equations->n++, interval->used_up);
    }
    *interval = (struct interval){.has_start = true};
}

static void collect(const struct batch_events *events, const struct hypothesis *hypothesis,
                    const struct sites *sites, bool taking, struct equations *equations) {
    struct interval *intervals = memory_alloc(events->n_instances, sizeof *intervals);
    for (size_t i = 0; i < events->count; i++) {
        const struct replay_event *event = &events->items[i];
        struct interval *interval = &intervals[event->instance];
        if (event->decides) {
            if (event->waits == taking)
                end_interval(interval, sites, taking, equations);
            continue;
        }
        int site = sites->of_slot[event->slot];
        if (site >= 0)
            interval->calls[site]++;
        else
            interval->used_up += (taking ? -1 : 1) * hypothesis->weight[event->slot];
    }
    free(intervals);
}

/* The least squares' solution; of many, the smallest. False: the equations are too few. */
static bool solve(const struct equations *equations, int n_sites, double amounts[SITE_LIMIT]) {
    if (equations->n < (size_t)n_sites)
        return false;
    size_t columns = (size_t)n_sites, rank;
    double squares;
    gsl_matrix_view calls = gsl_matrix_submatrix(equations->calls, 0, 0, equations->n, columns);
    gsl_vector_view used_up = gsl_vector_subvector(equations->used_up, 0, equations->n);
    gsl_vector_view solution = gsl_vector_view_array(amounts, columns);
    gsl_matrix *covariance = gsl_matrix_alloc(columns, columns);
    gsl_multifit_linear_workspace *workspace = gsl_multifit_linear_alloc(equations->n, columns);
    int failed = gsl_multifit_linear_tsvd(&calls.matrix, &used_up.vector, RANK_TOLERANCE,
                                          &solution.vector, covariance, &squares, &rank, workspace);
    gsl_multifit_linear_free(workspace);
    gsl_matrix_free(covariance);
    return !failed;
}

/* False: no such amounts make sense. */
static bool round_amounts(double amounts[SITE_LIMIT], int n_sites) {
    bool any_batch = false;
    for (int i = 0; i < n_sites; i++) {
        double whole = round(amounts[i]);
        if (fabs(amounts[i] - whole) > evidence.whole || whole < 0)
            return false;
        amounts[i] = fmax(whole, 1); /* never called before the counter was known: like others */
        any_batch |= whole > 1;
    }
    return any_batch;
}

bool batch_sizes_solve(const struct monitors *monitors, struct batch_events events,
                       struct hypothesis *hypothesis) {
    bool taking = hypothesis_takes(monitors, hypothesis);
    struct sites sites;
    if (!find_sites(monitors, hypothesis, taking, &sites))
        return false;
    struct equations equations = {.calls = gsl_matrix_alloc(EQUATION_LIMIT, (size_t)sites.n),
                                  .used_up = gsl_vector_alloc(EQUATION_LIMIT)};
    collect(&events, hypothesis, &sites, taking, &equations);
    double amounts[SITE_LIMIT];
    bool solved = solve(&equations, sites.n, amounts) && round_amounts(amounts, sites.n);
    gsl_matrix_free(equations.calls);
    gsl_vector_free(equations.used_up);
    for (int slot = 0; solved && slot < hypothesis->n_classes; slot++)
        if (sites.of_slot[slot] >= 0)
            hypothesis->weight[slot] *= (int)amounts[sites.of_slot[slot]];
    return solved;
}
