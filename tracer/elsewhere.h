/* What of the program's CPU time no recorded thread accounts for: in other processes that it
 * started, and in threads that the probes have not seen. */
#ifndef PERSIK_TRACER_ELSEWHERE_H
#define PERSIK_TRACER_ELSEWHERE_H

#include "formats/trace.h"
#include "tracer/launch.h"
#include "tracer/sched.h"

/* From the scheduling events (sorted), where they were recorded; else from what the kernel added up
 * for the children that the program waited for. Threads of the trace are the recorded ones. */
struct trace_elsewhere elsewhere_find(const struct trace *trace, const struct sched *sched,
                                      const struct launch *launch);

/* CPU time of all that the program ran, children that nobody waited for among it, in any order of
 * events; what the kernel added up where that is more. */
uint64_t elsewhere_all_cpu_ns(struct sched *sched, const struct launch *launch);

#endif
