/* What it cost the threads of the recorded run to come back to cores that others had used. The
 * simulator charges that by the same rule (model/refill.h), so it is no part of what they
 * compute. */
#ifndef PERSIK_MODELGEN_CALIBRATE_CACHE_RELOAD_TIME_H
#define PERSIK_MODELGEN_CALIBRATE_CACHE_RELOAD_TIME_H

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/calibrate/cache_reload_costs.h"
#include "modelgen/events/excluded_time.h"
#include "modelgen/threads/thread_pools.h"

/* Of all threads of the recorded run, which is another one than that of the evictions.
 * `reload_costs` NULL: nothing is known of it. */
struct excluded_time cache_reload_time_find(const struct trace *recorded,
                                            const struct cache_reload_costs *reload_costs);

/* Gives the model's pools what is known of their threads, if anything. `cpu_ns` is per
 * thread of the trace that the pools are of. */
void cache_reload_time_write(const struct trace *recorded,
                             const struct cache_reload_costs *reload_costs,
                             const struct thread_pools *pools, const double *cpu_ns,
                             struct model *model);

#endif
