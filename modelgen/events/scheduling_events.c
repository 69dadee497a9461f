#include "modelgen/events/scheduling_events.h"

#include <stdlib.h>

#include "base/memory.h"

static int compare_moments(const void *a, const void *b) {
    const struct scheduling_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

struct scheduling_events scheduling_events_collect(const struct trace *trace) {
    struct scheduling_events moments = {0};
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < trace->threads[t].n_slices; s++) {
            const struct trace_slice *slice = &trace->threads[t].slices[s];
            bool is_continued = s > 0 && slice[-1].preempted;
            uint64_t ready_ns = is_continued ? slice[-1].off_ns : slice->wake_ns;
            if (ready_ns >= slice->on_ns)
                ready_ns = 0;
            *VECTOR_ADD(&moments) = (struct scheduling_event){
                .time_ns = slice->on_ns,
                .kind = SCHEDULING_ON,
                .cpu = slice->cpu,
                .thread = t,
                .ready_ns = ready_ns,
            };
            *VECTOR_ADD(&moments) = (struct scheduling_event){
                .time_ns = slice->off_ns,
                .kind = SCHEDULING_OFF,
                .cpu = slice->cpu,
                .thread = t,
                .preempted = slice->preempted,
            };
            if (ready_ns)
                *VECTOR_ADD(&moments) = (struct scheduling_event){
                    .time_ns = ready_ns,
                    .kind = SCHEDULING_READY,
                    .cpu = slice->cpu,
                    .home = s > 0 ? slice[-1].cpu : slice->cpu,
                    .thread = t,
                    .preempted = is_continued,
                    .ran_ns = s > 0 ? slice[-1].off_ns : 0,
                    .latency_ns = (double)(slice->on_ns - ready_ns),
                };
        }
    VECTOR_SORT(&moments, compare_moments);
    return moments;
}

void scheduling_events_free(struct scheduling_events *moments) {
    free(moments->items);
    *moments = (struct scheduling_events){0};
}
