#include "modelgen/events/unrecorded_stops.h"

#include <math.h>

static double until_ready_ns(const struct trace_slice *left, const struct trace_slice *next) {
    uint64_t ready_ns = next->wake_ns >= left->off_ns ? next->wake_ns : next->on_ns;
    return (double)ready_ns - (double)left->off_ns;
}

struct unrecorded_stops unrecorded_stops_of(const struct trace_thread *thread) {
    struct unrecorded_stops stops = {0};
    size_t r = 0;
    for (size_t s = 0; s + 1 < thread->n_slices; s++) {
        const struct trace_slice *slice = &thread->slices[s];
        while (r < thread->n_records && trace_end_ns(&thread->records[r]) < slice->off_ns)
            r++;
        bool in_call = r < thread->n_records && thread->records[r].start_ns <= slice->off_ns;
        if (slice->preempted || in_call)
            continue;
        double ns = until_ready_ns(slice, slice + 1);
        stops.n++;
        stops.ns += ns;
        stops.longest_ns = fmax(stops.longest_ns, ns);
    }
    return stops;
}
