/* From ticks of the TSC, which probes stamp with, to CLOCK_MONOTONIC, which the kernel stamps with.
 *
 * The collector reads both clocks about once a second while the program runs, each reading the best
 * of several, and interpolates between readings. The probe library's own pairs are single readings
 * that an interruption can spoil by milliseconds, so they serve only where ours are missing. */
#ifndef PERSIK_TRACER_TIMEBASE_H
#define PERSIK_TRACER_TIMEBASE_H

#include <stddef.h>
#include <stdint.h>

struct timebase_pair {
    uint64_t ticks, mono_ns; /* the same moment */
};

/* Pairs by time. Free `pairs` to end it. */
struct timebase {
    size_t count, capacity;
    struct timebase_pair *items;
};

/* Reads both clocks and adds the pair. */
void timebase_sample(struct timebase *timebase);

/* `pair` must be later than the pairs there are; it is left out when it is not. */
void timebase_add(struct timebase *timebase, struct timebase_pair pair);

/* Linear between the pairs around `ticks`, by the nearest two outside them. Never decreasing in
 * `ticks`. Needs two pairs; gives 0 with less. */
uint64_t timebase_to_ns(const struct timebase *timebase, uint64_t ticks);

#endif
