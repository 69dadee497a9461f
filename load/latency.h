/* Times of requests, kept as a log-linear histogram (after HdrHistogram, by Gil Tene): each octave
 * has 1,024 buckets of equal width, so that a quantile is off by less than a thousandth of itself
 * and adding a time costs a few instructions, however many there are. Up to 2,047 ns and for mean
 * and maximum, times are exact. */
#ifndef PERSIK_LOAD_LATENCY_H
#define PERSIK_LOAD_LATENCY_H

#include <stdint.h>

struct latency;

/* Empty; latency_free ends it, NULL is allowed there. */
struct latency *latency_new(void);
void latency_free(struct latency *latency);

/* A time beyond LATENCY_MAX_NS (two hours) is counted in the last bucket. */
#define LATENCY_MAX_NS ((UINT64_C(1) << 43) - 1)
void latency_add(struct latency *latency, uint64_t time_ns);

uint64_t latency_count(const struct latency *latency);
double latency_mean_ns(const struct latency *latency);  /* NaN when empty */
uint64_t latency_max_ns(const struct latency *latency); /* 0 when empty */

/* The least time that `share` (0..1) of all times do not exceed: the upper end of its bucket, no
 * more than the maximum. NaN when empty. */
double latency_quantile_ns(const struct latency *latency, double share);

/* How many times do not exceed the quantile of `share`. */
uint64_t latency_count_within(const struct latency *latency, double share);

#endif
