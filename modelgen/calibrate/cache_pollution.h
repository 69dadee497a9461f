/* How fast threads displace what others have in the cache of their core: from lines that persik put
 * there, and looked for a moment later (tracer/evictor.h). */
#ifndef PERSIK_MODELGEN_CALIBRATE_CACHE_POLLUTION_H
#define PERSIK_MODELGEN_CALIBRATE_CACHE_POLLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

/* From a look at the lines back to when they were put there. */
struct window {
    uint32_t cpu;
    uint64_t from_ns, to_ns;
    double survived;
    double *ran_ns; /* of each role, on that core */
};

struct windows {
    struct window *items; /* those of a run and a core by time */
    size_t count, capacity;
};

/* Adds those of one run; threads are told apart by `role_of`. */
void cache_pollution_add(const struct trace *trace, const size_t *role_of, size_t n_roles,
                         struct windows *windows);

/* Of each role: when it has run for t ns, exp(-per_ns * t) of the lines are left. False, and all 0,
 * where there are too few windows. */
bool cache_pollution_fit(const struct windows *windows, size_t n_roles, double *per_ns);

void cache_pollution_free(struct windows *windows);

#endif
