/* What it costs threads to come back to a core that others have used: estimated from a run in which
 * persik took the cores away now and then (tracer/evictor.h).
 *
 * How far a thread has got shows in its calls: between two of them it does one fragment of its
 * work. After an eviction, fragments take longer than others of the same kind until the thread has
 * its data back. That is a comparison within one run, since evictions come at random moments: what
 * else makes fragments differ happens with and without them. Several runs tell it better. */
#ifndef PERSIK_MODELGEN_CALIBRATE_CACHE_RELOAD_COSTS_H
#define PERSIK_MODELGEN_CALIBRATE_CACHE_RELOAD_COSTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/calibrate/cache_reload_fragments.h"

/* Of threads that do the same. As struct pool has it. */
struct cache_reload_cost {
    uint64_t role; /* fragments_role() of the threads */
    double displaces_per_ns;
    size_t n_points; /* 0: it costs nothing that could be told from noise */
    struct refill_point points[EVICTION_PLANS];
};

struct cache_reload_costs {
    struct cache_reload_cost *items; /* free() them */
    size_t count, capacity;
};

/* From runs of the same configuration; none without evictions. */
struct cache_reload_costs cache_reload_costs_measure(struct trace *const *runs, size_t n_runs);

#endif
