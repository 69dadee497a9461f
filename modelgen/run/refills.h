/* What it cost the threads of the recorded run to come back to cores that others had used. The
 * simulator charges that by the same rule (formats/refill.h), so it is no part of what they
 * compute. */
#ifndef PERSIK_MODELGEN_RUN_REFILLS_H
#define PERSIK_MODELGEN_RUN_REFILLS_H

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/pools/pools.h"
#include "modelgen/run/evictions.h"
#include "modelgen/run/losses.h"

/* Of all threads of the recorded run, which is another one than that of the evictions. `refills`
 * NULL: nothing is known of it. */
struct losses refills_find(const struct trace *recorded, const struct refills *refills);

/* Gives the model's pools what is known of their threads, if anything. `trace` is what the pools
 * are of, `cpu_ns` per thread of it; its threads have the ids of the recorded ones. */
void refills_write(const struct trace *recorded, const struct refills *refills,
                   const struct trace *trace, const struct thread_pools *pools,
                   const double *cpu_ns, struct model *model);

#endif
