/* Did the program's runs do the same work? Persik runs it several times and concludes from one run
 * on another: one that found its input gone, or its output there, tells nothing of the traced one.
 */
#ifndef PERSIK_TRACER_SAME_WORK_H
#define PERSIK_TRACER_SAME_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/run_end.h"
#include "formats/trace.h"

/* What of a run's work its trace shows. */
struct work {
    uint64_t run_ns, cpu_ns; /* cpu_ns 0: not known */
    uint64_t probes_ns;      /* what the probes took of them at most */
    uint64_t ready_ns;       /* for which that thread had no core which waited longest for one */
    size_t n_threads;        /* of the process that was started first */
    uint64_t calls[API_COUNT];
};

struct work same_work_measure(const struct trace *trace);

/* Could a run of so much time, without probes, have done `work`? The machine and the scheduler make
 * equal runs differ, by less than a factor of two in CPU time; others who have the cores, more in
 * running time. */
bool same_work_by_time(const struct work *work, uint64_t run_ns, uint64_t cpu_ns);

/* Did both traced runs do the same? If not, `text` says in what they differ. Calls whose number
 * depends on who comes first (waits, attempts, polling) are not counted. */
bool same_work_by_calls(const struct work *a, const struct work *b, char *text, size_t bytes);

/* The three kinds of other runs, held against the traced one, whose work is `work`. What differs
 * becomes one of trace->meta.lacks; and plain runs that differ are taken out of the trace, runs
 * with evictions out of `directory`. With the plain runs that stay, their median and range are set.
 * `is_served`: of a server, which may make a thread for each of its clients' connections, so that
 * their number tells nothing. */
void same_work_of_plain_runs(struct trace *trace, const struct work *work);
void same_work_of_first(struct trace *trace, const struct work *work, const struct run_end *first,
                        bool is_served);
void same_work_of_evicted(struct trace *trace, const struct work *work, const struct work *evicted,
                          size_t n, const char *directory);

#endif
