#include "simulator/histogram.h"

#include <math.h>
#include <string.h>

#define MANTISSA_BITS 52
#define FIRST_BUCKET  (1023U << HISTOGRAM_BITS) /* of 1.0: the exponent's bias */

void histogram_clear(struct histogram *histogram) {
    memset(histogram, 0, sizeof *histogram);
}

/* The upper bits of a double, exponent and leading mantissa, already are a logarithmic bucket
 * number. */
void histogram_add(struct histogram *histogram, double value_ns) {
    histogram->n++;
    histogram->sum_ns += value_ns;
    uint64_t bits;
    double at_least_one = value_ns > 1 ? value_ns : 1;
    memcpy(&bits, &at_least_one, sizeof bits);
    uint64_t bucket = (bits >> (MANTISSA_BITS - HISTOGRAM_BITS)) - FIRST_BUCKET;
    histogram->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
}

double histogram_start(uint64_t bucket) {
    uint64_t bits = (bucket + FIRST_BUCKET) << (MANTISSA_BITS - HISTOGRAM_BITS);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double histogram_quantile(const struct histogram *histogram, double share) {
    double rank = share * histogram->n;
    double below = 0;
    for (uint64_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        double here = histogram->buckets[i];
        if (here > 0 && below + here >= rank)
            return histogram_start(i) +
                   (histogram_start(i + 1) - histogram_start(i)) * fmax(0, rank - below) / here;
        below += here;
    }
    return NAN;
}
