/* How much longer programs take on cores that others slow.
 *
 * A run takes longer by some power of how much computing is slowed and by some power of how much
 * memory is (host/pace.h): about 1 and 0.3 of who computes, 0 of who sleeps. Runs of the same work
 * tell which powers, as far as they differ. */
#ifndef PERSIK_HOST_SENSITIVITY_H
#define PERSIK_HOST_SENSITIVITY_H

#include <stddef.h>

#include "host/pace.h"

struct sensitivity {
    double power[PACE_KINDS];
};

/* A run: how long its pieces of work took, in any unit, and itself, in any other. All > 0. */
struct slowed_run {
    double pieces[PACE_KINDS];
    double time;
};

/* Runs of one or several configurations, as logarithms, less their means in the configuration. Zero
 * is none; free `items` to end it. */
struct slowed_runs {
    size_t count, capacity, configurations;
    struct slowed_run *items;
};

/* Adds `n` runs of one configuration. */
void sensitivity_add(struct slowed_runs *runs, const struct slowed_run *added, size_t n);

/* As far as the runs do not tell, what is usual of programs that compute for `share` of their time,
 * 0..1. */
struct sensitivity sensitivity_of(const struct slowed_runs *runs, double share);

/* How long what took `time` with pieces of one length takes with pieces of another one, in the same
 * units. */
double sensitivity_convert(double time, const double from[PACE_KINDS], const double to[PACE_KINDS],
                           struct sensitivity sensitivity);

#endif
