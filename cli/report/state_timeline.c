#include "cli/report/state_timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Adds the time from `from_ns` to `to_ns` to the bins that it falls into. */
static void add_span(float *bins, size_t n_bins, double bin_ns, double from_ns, double to_ns) {
    double from = fmax(from_ns / bin_ns, 0);
    double to = fmin(to_ns / bin_ns, (double)n_bins);
    for (size_t i = (size_t)from; (double)i < to && i < n_bins; i++)
        bins[i] += (float)(fmin(to, (double)i + 1) - fmax(from, (double)i));
}

/* From when on the thread was ready before it got the core for slice `i`. */
static double ready_from_ns(const struct trace_thread *thread, size_t i) {
    const struct trace_slice *slice = &thread->slices[i];
    if (i > 0 && thread->slices[i - 1].preempted)
        return (double)thread->slices[i - 1].off_ns;
    return slice->wake_ns > 0 ? (double)slice->wake_ns : (double)slice->on_ns;
}

static void add_slices(struct thread_timeline *timeline, size_t n_bins, double bin_ns) {
    const struct trace_thread *thread = timeline->thread;
    for (size_t i = 0; i < thread->n_slices; i++) {
        double on_ns = (double)thread->slices[i].on_ns;
        double off_ns = (double)thread->slices[i].off_ns;
        double ready_ns = fmin(ready_from_ns(thread, i), on_ns);
        add_span(timeline->computing, n_bins, bin_ns, on_ns, off_ns);
        add_span(timeline->ready, n_bins, bin_ns, ready_ns, on_ns);
        timeline->cpu_ns += off_ns - on_ns;
        timeline->ready_ns += on_ns - ready_ns;
    }
}

/* All time outside of recorded calls counts as computing. */
static void add_gaps(struct thread_timeline *timeline, size_t n_bins, double bin_ns) {
    const struct trace_thread *thread = timeline->thread;
    double since_ns = (double)thread->start_ns;
    for (size_t i = 0; i <= thread->n_records; i++) {
        const struct trace_record *record = i < thread->n_records ? &thread->records[i] : NULL;
        double until_ns = record ? (double)record->start_ns : (double)thread->end_ns;
        if (until_ns > since_ns) {
            add_span(timeline->computing, n_bins, bin_ns, since_ns, until_ns);
            timeline->cpu_ns += until_ns - since_ns;
        }
        since_ns = record ? fmax(since_ns, (double)trace_end_ns(record)) : since_ns;
    }
}

static double own_time_ns(const struct trace_thread *thread) {
    double sum_ns = 0;
    for (size_t i = 0; i < thread->n_slices; i++)
        sum_ns += (double)(thread->slices[i].off_ns - thread->slices[i].on_ns);
    return thread->n_slices > 0 ? sum_ns : (double)(thread->end_ns - thread->start_ns);
}

struct candidate {
    size_t index;
    double time_ns;
};

static int by_time(const void *left, const void *right) {
    const struct candidate *a = left;
    const struct candidate *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

static int by_index(const void *left, const void *right) {
    const struct candidate *a = left;
    const struct candidate *b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The `limit` that computed longest, in order of creation; the caller frees. */
static struct candidate *choose(const struct trace *trace, size_t limit) {
    struct candidate *all = memory_alloc(trace->n_threads, sizeof *all);
    for (size_t i = 0; i < trace->n_threads; i++)
        all[i] = (struct candidate){i, own_time_ns(&trace->threads[i])};
    qsort(all, trace->n_threads, sizeof *all, by_time);
    qsort(all, limit, sizeof *all, by_index);
    return all;
}

struct state_timeline state_timeline_of(const struct trace *trace, size_t n_bins, size_t limit) {
    struct state_timeline timeline = {.n_bins = n_bins};
    if (trace->n_threads == 0 || trace->meta.run_ns == 0)
        return timeline;
    timeline.n_threads = trace->n_threads < limit ? trace->n_threads : limit;
    timeline.n_left_out = trace->n_threads - timeline.n_threads;
    timeline.threads = memory_alloc(timeline.n_threads, sizeof *timeline.threads);
    struct candidate *chosen = choose(trace, timeline.n_threads);
    double run_ns = (double)trace->meta.run_ns;
    for (size_t i = 0; i < timeline.n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[chosen[i].index];
        struct thread_timeline *one = &timeline.threads[i];
        *one = (struct thread_timeline){
            .thread = thread,
            .computing = memory_alloc(n_bins, sizeof *one->computing),
            .ready = memory_alloc(n_bins, sizeof *one->ready),
            .from = fmin((double)thread->start_ns / run_ns, 1),
            .to = fmin((double)thread->end_ns / run_ns, 1),
        };
        if (thread->n_slices > 0)
            add_slices(one, n_bins, run_ns / (double)n_bins);
        else
            add_gaps(one, n_bins, run_ns / (double)n_bins);
    }
    free(chosen);
    return timeline;
}

void state_timeline_free(struct state_timeline *timeline) {
    for (size_t i = 0; i < timeline->n_threads; i++) {
        free(timeline->threads[i].computing);
        free(timeline->threads[i].ready);
    }
    free(timeline->threads);
    *timeline = (struct state_timeline){0};
}
