/* What the threads of a recording did in each of some equal parts of its time. Pure. */
#ifndef PERSIK_CLI_REPORT_STATE_TIMELINE_H
#define PERSIK_CLI_REPORT_STATE_TIMELINE_H

#include <stddef.h>

#include "formats/trace.h"

struct thread_timeline {
    const struct trace_thread *thread;
    float *computing, *ready; /* shares of each bin, 0..1, together at most 1 */
    double cpu_ns, ready_ns;  /* in all; where scheduling was not recorded, cpu_ns is the time
                               * outside of recorded calls, and ready_ns 0 */
    double from, to;          /* its life, in parts of the run */
};

struct state_timeline {
    size_t n_threads, n_bins;
    struct thread_timeline *threads; /* in order of creation */
    size_t n_left_out;
};

/* Of the `limit` threads that computed longest. The trace must live as long;
 * state_timeline_free() ends it. */
struct state_timeline state_timeline_of(const struct trace *trace, size_t n_bins, size_t limit);
void state_timeline_free(struct state_timeline *timeline);

#endif
