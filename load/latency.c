#include "load/latency.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    LINEAR_BITS = 10, /* 2^10 buckets per octave */
    LINEAR = 1 << LINEAR_BITS,
    MAX_BITS = 43,
    /* 2 x LINEAR of width 1, then LINEAR for each octave */
    BUCKETS = 2 * LINEAR + (MAX_BITS - LINEAR_BITS - 1) * LINEAR
};

struct latency {
    uint64_t count, max_ns;
    double sum_ns;
    uint64_t buckets[BUCKETS];
};

struct latency *latency_new(void) {
    return memory_alloc(1, sizeof(struct latency));
}

void latency_free(struct latency *latency) {
    free(latency);
}

/* A time of b bits keeps its upper LINEAR_BITS + 1; the others are the width of its bucket. */
static size_t bucket_of(uint64_t time_ns) {
    if (time_ns < 2 * LINEAR)
        return time_ns;
    int dropped = 63 - __builtin_clzll(time_ns) - LINEAR_BITS;
    return (size_t)dropped * LINEAR + (time_ns >> dropped);
}

static uint64_t upper_end_ns(size_t bucket) {
    if (bucket < (size_t)2 * LINEAR)
        return bucket;
    int dropped = (int)(bucket / LINEAR) - 1;
    uint64_t leading = bucket - (size_t)dropped * LINEAR;
    return ((leading + 1) << dropped) - 1;
}

void latency_add(struct latency *latency, uint64_t time_ns) {
    latency->count++;
    latency->sum_ns += (double)time_ns;
    if (time_ns > latency->max_ns)
        latency->max_ns = time_ns;
    latency->buckets[bucket_of(time_ns > LATENCY_MAX_NS ? LATENCY_MAX_NS : time_ns)]++;
}

uint64_t latency_count(const struct latency *latency) {
    return latency->count;
}

double latency_mean_ns(const struct latency *latency) {
    return latency->count ? latency->sum_ns / (double)latency->count : NAN;
}

uint64_t latency_max_ns(const struct latency *latency) {
    return latency->max_ns;
}

/* The first bucket up to which `share` of all times lie; `within` gets how many these are. */
static size_t find_bucket(const struct latency *latency, double share, uint64_t *within) {
    double wanted = share * (double)latency->count;
    uint64_t sum = 0;
    size_t bucket = 0, last = 0;
    for (; bucket < BUCKETS; bucket++) {
        if (!latency->buckets[bucket])
            continue;
        last = bucket;
        sum += latency->buckets[bucket];
        if ((double)sum >= wanted)
            break;
    }
    *within = sum;
    return last;
}

double latency_quantile_ns(const struct latency *latency, double share) {
    if (!latency->count)
        return NAN;
    uint64_t within;
    uint64_t end_ns = upper_end_ns(find_bucket(latency, share, &within));
    bool is_last = within == latency->count;
    return (double)(is_last || end_ns > latency->max_ns ? latency->max_ns : end_ns);
}

uint64_t latency_count_within(const struct latency *latency, double share) {
    uint64_t within = 0;
    if (latency->count)
        find_bucket(latency, share, &within);
    return within;
}
