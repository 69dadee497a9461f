/* How fast the cores compute while something else runs on them.
 *
 * A core is slower when its sibling of the same physical one has work, when others fill the caches
 * that it shares, or when it is too hot. A virtual machine's neighbours do that for minutes, and no
 * counter of the kernel's shows it. So a thread on each core does a few little pieces of work,
 * always the same, 25 times a second and looks how much CPU time they take. That is 0.3 % of an
 * undisturbed core that is busy, and up to 2 % of another. */
#ifndef PERSIK_BASE_PACE_H
#define PERSIK_BASE_PACE_H

#include <stdbool.h>
#include <stddef.h>

struct pace;

/* Watches the first `n_cores` of those that this process may use until pace_stop(). NULL: there is
 * no room for the threads. */
struct pace *pace_start(int n_cores);

/* How many times as long as at their fastest the pieces took meanwhile, on the average, each core
 * as often as it was busy: nobody minds how fast an idle one is. At their fastest: that this
 * process has seen when it watched so many cores, for where all are busy, each may be slower. Of
 * NULL it is 0: not known. Frees it. */
double pace_stop(struct pace *pace);

/* From here on others slow the cores. */
#define PACE_DISTURBED 1.06

/* Waits until nothing slows those cores, at most ten seconds and some times as long as the run
 * takes that it is for. False: something still does. */
bool pace_wait(int n_cores, double run_ns);

#endif
