#include "modelgen/calibrate/probe_overhead.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/thread_states.h"

static void add_span(const struct trace_thread *thread, struct trace_span span,
                     struct excluded_time *losses) {
    size_t s = trace_slice_after(thread, span.from_ns);
    for (; s < thread->n_slices && thread->slices[s].on_ns < span.to_ns; s++) {
        const struct trace_slice *slice = &thread->slices[s];
        uint64_t from_ns = slice->on_ns > span.from_ns ? slice->on_ns : span.from_ns;
        uint64_t to_ns = slice->off_ns < span.to_ns ? slice->off_ns : span.to_ns;
        *VECTOR_ADD(losses) = (struct excluded_interval){from_ns, to_ns, 1, slice->cpu};
    }
}

struct excluded_time probe_overhead_find(const struct trace *trace) {
    struct excluded_time losses = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        add_span(&trace->threads[t], trace->threads[t].attach, &losses);
        add_span(&trace->threads[t], trace->threads[t].detach, &losses);
    }
    excluded_time_sort(&losses);
    return losses;
}

double probe_overhead_run_ns(const struct trace *trace) {
    struct trace_span first = trace->n_threads ? trace->threads[0].attach : (struct trace_span){0};
    return (double)trace->meta.run_ns - (double)(first.to_ns - first.from_ns);
}

double probe_overhead_on_core_ns(const struct trace *trace) {
    struct excluded_time losses = probe_overhead_find(trace);
    double on_core_ns = thread_states_on_core(trace);
    for (size_t i = 0; i < losses.count; i++)
        on_core_ns -= (double)(losses.items[i].to_ns - losses.items[i].from_ns);
    free(losses.items);
    return on_core_ns;
}
