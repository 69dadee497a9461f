#include "host/sensitivity.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_multifit.h>

#include "base/memory.h"

/* Of programs that compute. Of six that were looked at, on a machine with busy neighbours, it was
 * 0.1 to 1.3 of computing and 0 to 1.2 of memory, and mostly one of both. */
static const struct usual { double mean, deviation; } usual[PACE_KINDS] = {{1, 0.5}, {0.3, 0.5}};

static void add_logarithms(struct slowed_run *to, const struct slowed_run *run, double times) {
    for (int kind = 0; kind < PACE_KINDS; kind++)
        to->pieces[kind] += times * log(run->pieces[kind]);
    to->time += times * log(run->time);
}

void sensitivity_add(struct slowed_runs *runs, const struct slowed_run *added, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct slowed_run centered = {0};
        add_logarithms(&centered, &added[i], 1);
        for (size_t j = 0; j < n; j++)
            add_logarithms(&centered, &added[j], -1 / (double)n);
        *VECTOR_ADD(runs) = centered;
    }
    runs->configurations += n > 0;
}

/* Least squares of the times over the pieces. Each kind's usual power is one observation more,
 * which has as much weight as `deviation`, that of single times, makes it; 0: it has none. Gives
 * the sum of the squares that remain. */
static double fit(const struct slowed_runs *runs, double share, double deviation,
                  struct sensitivity *sensitivity) {
    size_t n = runs->count + PACE_KINDS;
    gsl_matrix *pieces = gsl_matrix_calloc(n, PACE_KINDS);
    gsl_vector *times = gsl_vector_calloc(n), *powers = gsl_vector_alloc(PACE_KINDS);
    gsl_matrix *covariance = gsl_matrix_alloc(PACE_KINDS, PACE_KINDS);
    gsl_multifit_linear_workspace *space = gsl_multifit_linear_alloc(n, PACE_KINDS);
    double squares;
    for (size_t i = 0; i < runs->count; i++) {
        for (size_t kind = 0; kind < PACE_KINDS; kind++)
            gsl_matrix_set(pieces, i, kind, runs->items[i].pieces[kind]);
        gsl_vector_set(times, i, runs->items[i].time);
    }
    for (size_t kind = 0; kind < PACE_KINDS; kind++) {
        double weight = deviation / usual[kind].deviation;
        gsl_matrix_set(pieces, runs->count + kind, kind, weight);
        gsl_vector_set(times, runs->count + kind, weight * share * usual[kind].mean);
    }
    gsl_multifit_linear(pieces, times, powers, covariance, &squares, space);
    for (size_t kind = 0; kind < PACE_KINDS; kind++)
        sensitivity->power[kind] = gsl_vector_get(powers, kind);
    gsl_multifit_linear_free(space);
    gsl_matrix_free(covariance);
    gsl_vector_free(powers);
    gsl_vector_free(times);
    gsl_matrix_free(pieces);
    return squares;
}

/* Less than that single times always differ; and so much where the runs are too few to tell. */
#define LEAST_DEVIATION 1e-3
#define USUAL_DEVIATION 0.02

static double deviation_of(const struct slowed_runs *runs, double share) {
    if (runs->count <= runs->configurations + PACE_KINDS)
        return USUAL_DEVIATION;
    struct sensitivity best;
    double freedom = (double)(runs->count - runs->configurations - PACE_KINDS);
    return fmax(sqrt(fit(runs, share, 0, &best) / freedom), LEAST_DEVIATION);
}

struct sensitivity sensitivity_of(const struct slowed_runs *runs, double share) {
    struct sensitivity sensitivity;
    fit(runs, share, deviation_of(runs, share), &sensitivity);
    return sensitivity;
}

double sensitivity_convert(double time, const double from[PACE_KINDS], const double to[PACE_KINDS],
                           struct sensitivity sensitivity) {
    for (int kind = 0; kind < PACE_KINDS; kind++)
        time *= pow(to[kind] / from[kind], sensitivity.power[kind]);
    return time;
}
