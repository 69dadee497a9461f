/* Response times of one replication: a histogram whose buckets are 1/128 of an octave wide
 * (after HdrHistogram), so a percentile is off by at most 0.8 % of itself and adding a value
 * costs a few instructions, however many there are. Mean and number are exact. */
#ifndef PERSIK_SIMULATOR_HISTOGRAM_H
#define PERSIK_SIMULATOR_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS    7  /* buckets per octave = 2^7 */
#define HISTOGRAM_OCTAVES 56 /* 1 ns .. 2 years; beyond: the last bucket */
#define HISTOGRAM_BUCKETS (HISTOGRAM_OCTAVES << HISTOGRAM_BITS)

struct histogram {
    double n;
    double sum_ns;
    uint32_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *histogram);
void histogram_add(struct histogram *histogram, double value_ns);

/* The least value of a bucket. */
double histogram_start(uint64_t bucket);

/* The value below which `share` (0..1) of all values lie; NaN when there are none. */
double histogram_quantile(const struct histogram *histogram, double share);

#endif
