/* How much longer programs take on cores that others slow.
 *
 * A run takes longer by so many powers of its slowdown (base/pace.h): about 1 of who computes, 0 of
 * who sleeps or waits for a disk. Runs of the same work tell how many, as far as they differ. */
#ifndef PERSIK_BASE_SENSITIVITY_H
#define PERSIK_BASE_SENSITIVITY_H

#include <stddef.h>

/* Runs of one or several configurations. Zero is none; sensitivity_free() ends it. */
struct slowed_runs {
    double *slowdowns, *times; /* logarithms, less their means in the configuration */
    size_t count, configurations;
};

/* Adds `n` runs of one configuration: slowdowns > 0, times > 0 in any unit. */
void sensitivity_add(struct slowed_runs *runs, const double *slowdowns, const double *times,
                     size_t n);

/* As far as the runs do not tell, `usual`: what is usual of programs that compute for that share of
 * their time, 0..1. */
double sensitivity_of(const struct slowed_runs *runs, double usual);

void sensitivity_free(struct slowed_runs *runs);

/* How long what took `time` at one slowdown takes at another one, in the same unit. */
double sensitivity_convert(double time, double from_slowdown, double to_slowdown,
                           double sensitivity);

#endif
