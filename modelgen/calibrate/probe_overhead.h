/* What the probes did in the program's threads by themselves: getting ready before a thread's first
 * record, and leaving it at its end. It is no part of what the program does. */
#ifndef PERSIK_MODELGEN_CALIBRATE_PROBE_OVERHEAD_H
#define PERSIK_MODELGEN_CALIBRATE_PROBE_OVERHEAD_H

#include "formats/trace.h"
#include "modelgen/events/excluded_time.h"

/* The CPU time it took; free() the items. None without scheduling records: then a thread's life
 * begins after it and ends before it. */
struct excluded_time probe_overhead_find(const struct trace *trace);

/* Running time of the recorded run, and CPU time of its threads, without it. The program's first
 * thread is alone while the probes get ready, so that its time is the run's. */
double probe_overhead_run_ns(const struct trace *trace);
double probe_overhead_on_core_ns(const struct trace *trace);

#endif
