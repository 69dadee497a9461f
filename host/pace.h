/* How fast the cores compute while something else runs on them.
 *
 * A core is slower when its sibling of the same physical one has work, when others fill the caches
 * that it shares, or when it is too hot. A virtual machine's neighbours do that for minutes, and no
 * counter of the kernel's shows it. So a thread on each core does a few little pieces of work,
 * always the same, 40 times a second and looks how much CPU time they take: 0.7 % of a core. Some
 * compute, the others wait for memory. */
#ifndef PERSIK_HOST_PACE_H
#define PERSIK_HOST_PACE_H

#include <stdbool.h>
#include <stddef.h>

enum pace_kind { PACE_COMPUTING, PACE_MEMORY, PACE_KINDS };

/* How long a piece takes; 0: not known. */
struct pace_reading {
    double piece_ns[PACE_KINDS]; /* on the average, each core as often as it was busy: nobody minds
                                  * how fast an idle one is */
    double fastest_ns[PACE_KINDS]; /* at its fastest: those that compute as if nobody slowed the
                                    * cores, those that wait for memory by luck */
};

/* The lesser one of what is known. */
double pace_faster(double a_ns, double b_ns);

struct pace;

/* Watches the first `n_cores` of those that this process may use until pace_stop(). NULL: there is
 * no room for the threads. From one thread at a time. */
struct pace *pace_start(int n_cores);

/* What was seen meanwhile. Of NULL nothing. Frees it. */
struct pace_reading pace_stop(struct pace *pace);

/* How many times as long as at their fastest the pieces that compute took in a reading of
 * `n_cores`. At their fastest: that this process has seen when it watched so many cores, for where
 * all are busy, each may be slower. 0: not known. */
double pace_slowdown(struct pace_reading reading, int n_cores);

/* From here on others slow the cores. */
#define PACE_DISTURBED 1.06

/* Waits until nothing slows those cores, at most ten seconds and some times as long as the run
 * takes that it is for. False: something still does. */
bool pace_wait(int n_cores, double run_ns);

#endif
