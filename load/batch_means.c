#include "load/batch_means.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#define CONFIDENCE 0.95

static void join_neighbours(struct batch_means *means) {
    means->full /= 2;
    means->size *= 2;
    for (size_t i = 0; i < means->full; i++)
        means->sums[i] = means->sums[2 * i] + means->sums[2 * i + 1];
}

void batch_means_add(struct batch_means *means, double value) {
    if (means->size == 0)
        means->size = 1;
    means->sum += value;
    if (++means->filled < means->size)
        return;
    means->sums[means->full++] = means->sum;
    means->sum = 0;
    means->filled = 0;
    if (means->full == BATCH_MEANS_MOST)
        join_neighbours(means);
}

double batch_means_half_width(const struct batch_means *means) {
    if (means->full < BATCH_MEANS_LEAST)
        return NAN;
    double deviation = gsl_stats_sd(means->sums, 1, means->full) / (double)means->size;
    double t = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2, (double)means->full - 1);
    return t * deviation / sqrt((double)means->full);
}
