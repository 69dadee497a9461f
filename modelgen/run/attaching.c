#include "modelgen/run/attaching.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/run/timeline.h"

static void add_span(const struct trace_thread *thread, struct trace_span span,
                     struct losses *losses) {
    size_t s = timeline_slice_after(thread, span.from_ns);
    for (; s < thread->n_slices && thread->slices[s].on_ns < span.to_ns; s++) {
        const struct trace_slice *slice = &thread->slices[s];
        uint64_t from_ns = slice->on_ns > span.from_ns ? slice->on_ns : span.from_ns;
        uint64_t to_ns = slice->off_ns < span.to_ns ? slice->off_ns : span.to_ns;
        *VECTOR_ADD(losses) = (struct loss){from_ns, to_ns, 1, slice->cpu};
    }
}

struct losses attaching_find(const struct trace *trace) {
    struct losses losses = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        add_span(&trace->threads[t], trace->threads[t].attach, &losses);
        add_span(&trace->threads[t], trace->threads[t].detach, &losses);
    }
    losses_sort(&losses);
    return losses;
}

double attaching_run_ns(const struct trace *trace) {
    struct trace_span first = trace->n_threads ? trace->threads[0].attach : (struct trace_span){0};
    return (double)trace->meta.run_ns - (double)(first.to_ns - first.from_ns);
}

double attaching_on_core_ns(const struct trace *trace) {
    struct losses losses = attaching_find(trace);
    double on_core_ns = timeline_on_core(trace);
    for (size_t i = 0; i < losses.count; i++)
        on_core_ns -= (double)(losses.items[i].to_ns - losses.items[i].from_ns);
    free(losses.items);
    return on_core_ns;
}
