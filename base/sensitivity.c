#include "base/sensitivity.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"

/* Around what is usual: of programs that compute it was 0.8 to 1.3, and of one that mostly waits
 * for memory 0.2. */
#define STANDARD_DEVIATION 0.5

/* Makes the values logarithms, less their mean. */
static void add_logarithms(double *to, const double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = log(values[i]);
    double mean = gsl_stats_mean(to, 1, n);
    for (size_t i = 0; i < n; i++)
        to[i] -= mean;
}

void sensitivity_add(struct slowed_runs *runs, const double *slowdowns, const double *times,
                     size_t n) {
    if (n == 0)
        return;
    size_t count = runs->count + n;
    runs->slowdowns = memory_resize(runs->slowdowns, count, sizeof *runs->slowdowns);
    runs->times = memory_resize(runs->times, count, sizeof *runs->times);
    add_logarithms(runs->slowdowns + runs->count, slowdowns, n);
    add_logarithms(runs->times + runs->count, times, n);
    runs->count = count;
    runs->configurations++;
}

/* The slope of the times over the slowdowns, and the less sure that is, the more the usual one: the
 * mean of both by their inverse variances. */
double sensitivity_of(const struct slowed_runs *runs, double usual) {
    double slope, variance, squares;
    if (runs->count <= runs->configurations + 1)
        return usual;
    gsl_fit_mul(runs->slowdowns, 1, runs->times, 1, runs->count, &slope, &variance, &squares);
    /* it takes all runs but one for free, and each configuration has a mean of its own */
    variance *= (double)(runs->count - 1) / (double)(runs->count - runs->configurations - 1);
    if (!isfinite(slope) || !isfinite(variance)) /* always the same speed */
        return usual;
    double usual_variance = STANDARD_DEVIATION * STANDARD_DEVIATION;
    return (slope * usual_variance + usual * variance) / (usual_variance + variance);
}

void sensitivity_free(struct slowed_runs *runs) {
    free(runs->slowdowns);
    free(runs->times);
    *runs = (struct slowed_runs){0};
}

double sensitivity_convert(double time, double from_slowdown, double to_slowdown,
                           double sensitivity) {
    return time * pow(to_slowdown / from_slowdown, sensitivity);
}
