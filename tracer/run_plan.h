/* How many runs without probes, and with emptied caches, a recording is given. */
#ifndef PERSIK_TRACER_RUN_PLAN_H
#define PERSIK_TRACER_RUN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/trace.h"
#include "tracer/tracer.h"

/* Of a program that takes `traced` with probes and `sampled` under a sampler (run_ns and cpu_ns
 * count): do the two leave open what the probes cost, so that a run without any is worth its time?
 */
bool run_plan_is_unclear(const struct trace_plain_run *sampled,
                         const struct trace_plain_run *traced);

/* Do `n` runs without probes tell the median well enough? */
bool run_plan_has_enough(const struct trace_plain_run *runs, size_t n);

/* How many runs with one core only, of a program that takes `traced` with probes. None where the
 * user gave a number of plain runs. */
size_t run_plan_one_core(const struct tracer_options *options,
                         const struct trace_plain_run *traced);

/* After runs with emptied caches that took `all_ns`, and one with probes that took `traced_ns`:
 * is one more worth its time? */
bool run_plan_wants_evicted(int made, double all_ns, double traced_ns);

/* As expected of runs of `run_ns`; 0: not known. Those that end otherwise than they should, and
 * unsteady ones, make it fewer or more. */
size_t run_plan_expected(const struct tracer_options *options, double run_ns);

#endif
