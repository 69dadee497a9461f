/* The confidence interval of the mean of values that depend on each other, as the response times of
 * successive requests do: the means of long batches hardly do (batch means; Law 2015, section 9.5).
 * The number of values need not be known beforehand: when there are too many batches, neighbours
 * become one. */
#ifndef PERSIK_LOAD_BATCH_MEANS_H
#define PERSIK_LOAD_BATCH_MEANS_H

#include <stddef.h>

enum { BATCH_MEANS_MOST = 40, BATCH_MEANS_LEAST = 10 };

struct batch_means {
    double sums[BATCH_MEANS_MOST]; /* of full batches */
    size_t full;
    size_t size; /* values per batch; 0 before the first value */
    double sum;  /* of the batch that is being filled */
    size_t filled;
};

/* A struct of zeros is empty. Values are added in the order of time. */
void batch_means_add(struct batch_means *means, double value);

/* Half the width of the 95 % confidence interval of the mean; NaN with fewer than
 * BATCH_MEANS_LEAST full batches. */
double batch_means_half_width(const struct batch_means *means);

#endif
