/* What it costs a server's threads to go on after they slept: the longer one waited for its next
 * request, the less of its data is still in a cache near it. The simulator charges that by the
 * same rule (formats/model.h), so it is no part of what they compute. */
#ifndef PERSIK_MODELGEN_CALIBRATE_COLD_STARTS_H
#define PERSIK_MODELGEN_CALIBRATE_COLD_STARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/events/excluded_time.h"

/* After a sleep of t: whole_ns * (1 - exp(-t / pace_ns)). */
struct cold_starts {
    bool *answers;    /* per thread of the trace: it answers requests, and pays this */
    double whole_ns;  /* 0: nothing, or it does not show */
    double pace_ns;   /* above 0 */
    double errors;    /* standard errors by which whole_ns differs from 0 */
    size_t n_answers; /* of which that was told */
    size_t n_threads; /* that answer requests */
};

/* Of the run as it was recorded. A request that a thread took up after a long sleep is held against
 * one that it took up after a short one, or after none. `block_cpu_ns`: what each sleep costs
 * whatever its length, which is charged elsewhere. O(n log n) of the records. */
struct cold_starts cold_starts_find(const struct trace *recorded, double block_cpu_ns);
void cold_starts_free(struct cold_starts *starts);

/* What of its CPU time that was, for each thread after each sleep. */
struct excluded_time cold_starts_time(const struct trace *recorded,
                                      const struct cold_starts *starts);

/* Gives it to the model's pool number `pool`, whose threads pay it. */
void cold_starts_write(const struct cold_starts *starts, struct pool *pool);

#endif
