/* What may limit a configuration, and what would relieve it: the model's locks, limits, devices,
 * cores and threads, each with one variation in which there is more of it.
 *
 * What cannot be had twice is doubled: a thread that is the only one of its pool, a disk, a wait.
 * Of cores and of threads in a pool there is one more. A lock keeps nobody out, though all work
 * under it is done: had that become shorter, too, a lock that nobody waits for would count as much
 * as the work. */
#ifndef PERSIK_CLI_SENSITIVITY_RELIEF_H
#define PERSIK_CLI_SENSITIVITY_RELIEF_H

#include "cli/sensitivity/variation.h"

/* In the order in which they are named where they gain the same: what a user can choose, what a
 * program's parameter is, what its design is; two changes last. */
enum limit {
    LIMIT_THREADS, /* too few in a pool ... */
    LIMIT_CROWD,   /* ... or more than there are cores */
    LIMIT_CORES,
    LIMIT_CAPACITY, /* of a bounded queue */
    LIMIT_PERMITS,  /* of a semaphore */
    LIMIT_LOCK,
    LIMIT_DISK,
    LIMIT_NETWORK,
    LIMIT_UNEVEN_WORK, /* some of the pool's threads have more to do than others */
    LIMIT_ONE_THREAD,  /* what the only thread of a pool computes */
    LIMIT_SLEEPS,
    LIMIT_IO,                /* on devices that are no objects of the model */
    LIMIT_CORES_AND_THREADS, /* as many of one as of the other: more of one alone gains nothing */
    N_LIMITS
};

struct relief {
    enum limit limit;
    struct variation variation; /* `subject`: what limits; `change`: what relieves it */
    double in_use;              /* share of the time in which it is; NAN: that says nothing */
};

struct reliefs {
    struct relief *items;
    size_t count, capacity;
};

/* All that the model has, in this configuration, of which `base` is the simulated run; resources
 * that nobody used or waited for there are left out. reliefs_free() ends it. */
struct reliefs reliefs_of(const struct model *model, const int *pool_threads, int cores,
                          const struct sim_result *base);
/* One core and one thread more, where neither may help without the other. NULL: no pool is known to
 * do the same work with more threads. Freed with the reliefs that it is added to. */
const struct relief *reliefs_add_both(struct reliefs *reliefs, const struct model *model, int cores,
                                      const struct sim_result *base);
void reliefs_free(struct reliefs *reliefs);

/* "lock", "one thread", ... */
const char *limit_name(enum limit limit);

#endif
