/* What it costs a thread that others have used its core's cache: the rule by which the simulator
 * charges it and the model's builder takes it out of what was recorded. */
#ifndef PERSIK_MODEL_REFILL_H
#define PERSIK_MODEL_REFILL_H

#include <stddef.h>

struct refill_point {
    double away_ns; /* since the thread last ran */
    double cpu_ns;  /* when nothing of its own is left in the cache */
};

/* Of the threads of a pool. */
struct refill_curve {
    size_t n_points;                   /* at least 1 */
    const struct refill_point *points; /* by away_ns, cpu_ns never falls and ends above 0; in
                                        * between as on straight lines, outside as at the nearest */
};

/* CPU ns to bring back all that a thread had, after `away_ns`. */
double refill_whole_ns(struct refill_curve curve, double away_ns);

/* A thread comes back after `away_ns`, and the share `left` of what it had is there: `missing_ns`,
 * the CPU that it takes to bring back what it lacks, grows. */
void refill_lose(struct refill_curve curve, double away_ns, double left, double *missing_ns);

/* CPU in which it brings back all but 1/e of what is missing. */
double refill_pace_ns(struct refill_curve curve);

/* What of that it brings back while it computes for `ran_ns`. As long as it lacks something it gets
 * on at about half its speed. */
double refill_regain(struct refill_curve curve, double ran_ns, double *missing_ns);

#endif
