#include "modelgen/run/moments.h"

#include <stdlib.h>

#include "base/memory.h"

static int compare_moments(const void *a, const void *b) {
    const struct moment *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

struct moments moments_collect(const struct trace *trace) {
    struct moments moments = {0};
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < trace->threads[t].n_slices; s++) {
            const struct trace_slice *slice = &trace->threads[t].slices[s];
            bool is_continued = s > 0 && slice[-1].preempted;
            uint64_t ready_ns = is_continued ? slice[-1].off_ns : slice->wake_ns;
            if (ready_ns >= slice->on_ns)
                ready_ns = 0;
            *VECTOR_ADD(&moments) = (struct moment){
                .time_ns = slice->on_ns,
                .kind = MOMENT_ON,
                .cpu = slice->cpu,
                .thread = t,
                .ready_ns = ready_ns,
            };
            *VECTOR_ADD(&moments) = (struct moment){
                .time_ns = slice->off_ns,
                .kind = MOMENT_OFF,
                .cpu = slice->cpu,
                .thread = t,
                .preempted = slice->preempted,
            };
            if (ready_ns)
                *VECTOR_ADD(&moments) = (struct moment){
                    .time_ns = ready_ns,
                    .kind = MOMENT_READY,
                    .cpu = slice->cpu,
                    .home = s > 0 ? slice[-1].cpu : slice->cpu,
                    .thread = t,
                    .preempted = is_continued,
                    .ran_ns = s > 0 ? slice[-1].off_ns : 0,
                    .latency_ns = (double)(slice->on_ns - ready_ns),
                };
        }
    if (moments.count)
        qsort(moments.items, moments.count, sizeof *moments.items, compare_moments);
    return moments;
}

void moments_free(struct moments *moments) {
    free(moments->items);
    *moments = (struct moments){0};
}
