#include "tracer/same_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

/* With caches full of the program's own, a record costs several times what it does in a loop. */
#define PROBES_AT_MOST 8

/* Starting and ending a process takes as long as it happens to. */
#define SLACK_NS 20000000.0

/* By so much the times of equal runs may differ: CPU time by the speed of the cores, running time
 * by what others have of them, too. */
static const struct likeness {
    double least, most;
} cpu_likeness = {0.5, 2}, run_likeness = {0.25, 8};

/* Programs that make a thread when they need one may make some more or less; so with calls, of
 * which a few are made by whoever happens to come first. */
#define THREAD_TOLERANCE 8 /* one of so many */
#define CALL_TOLERANCE   2 /* one of so many */
#define FEW_CALLS        100

#define UNDO "undo with --prepare what a run leaves behind"

/* ---- what a run did ---- */

/* How long it was runnable, but not on a core. */
static uint64_t time_ready(const struct trace_thread *thread) {
    uint64_t ready_ns = 0;
    for (size_t i = 0; i < thread->n_slices; i++) {
        const struct trace_slice *slice = &thread->slices[i];
        bool left = i > 0 && slice[-1].preempted;
        uint64_t since_ns = left ? slice[-1].off_ns : slice->wake_ns;
        if (since_ns > 0 && since_ns < slice->on_ns)
            ready_ns += slice->on_ns - since_ns;
    }
    return ready_ns;
}

struct work same_work_measure(const struct trace *trace) {
    const struct trace_meta *meta = &trace->meta;
    struct work work = {.run_ns = meta->run_ns, .cpu_ns = meta->cpu_ns};
    uint64_t records = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        work.n_threads += thread->pid == trace->threads[0].pid;
        records += thread->n_records;
        uint64_t ready_ns = time_ready(thread);
        work.ready_ns = ready_ns > work.ready_ns ? ready_ns : work.ready_ns;
        for (size_t i = 0; i < thread->n_records; i++)
            work.calls[thread->records[i].api]++;
    }
    work.probes_ns = (uint64_t)(PROBES_AT_MOST * meta->timed_probe_ns * (double)records);
    return work;
}

/* ---- comparing ---- */

/* Is the time without probes like the one with them? Of that `own_ns` is neither the probes' nor
 * others' for certain. */
static bool is_like(double plain_ns, double with_probes_ns, double own_ns,
                    struct likeness likeness) {
    return plain_ns >= own_ns * likeness.least - SLACK_NS &&
           plain_ns <= with_probes_ns * likeness.most + SLACK_NS;
}

bool same_work_by_time(const struct work *work, uint64_t run_ns, uint64_t cpu_ns) {
    double probes_ns = (double)work->probes_ns, ready_ns = (double)work->ready_ns;
    double traced_cpu_ns = (double)work->cpu_ns, traced_ns = (double)work->run_ns;
    bool same_cpu = work->cpu_ns == 0 || cpu_ns == 0 ||
                    is_like((double)cpu_ns, traced_cpu_ns, traced_cpu_ns - probes_ns, cpu_likeness);
    return same_cpu &&
           is_like((double)run_ns, traced_ns, traced_ns - probes_ns - ready_ns, run_likeness);
}

static bool is_about(uint64_t a, uint64_t b, uint64_t few, uint64_t tolerance) {
    uint64_t more = a > b ? a : b, difference = a > b ? a - b : b - a;
    return difference <= few || difference <= more / tolerance;
}

static bool depends_on_who_is_first(enum api api) {
    switch (api_catalog[api].op) {
    case OP_WAIT:
    case OP_TIMEDWAIT:
    case OP_SIGNAL:
    case OP_BROADCAST:
    case OP_TRYLOCK:
    case OP_TRYRDLOCK:
    case OP_TRYWRLOCK:
    case OP_TRYACQUIRE:
    case OP_TRYPUT:
    case OP_TRYGET:
    case OP_TRYJOIN:
    case OP_TIMEDLOCK:
    case OP_TIMEDRDLOCK:
    case OP_TIMEDWRLOCK:
    case OP_TIMEDACQUIRE:
    case OP_YIELD:
    case OP_SLEEP:
    case OP_POLL:
        return true;
    default:
        return false;
    }
}

bool same_work_by_calls(const struct work *a, const struct work *b, char *text, size_t bytes) {
    if (!is_about(a->n_threads, b->n_threads, 0, THREAD_TOLERANCE)) {
        snprintf(text, bytes, "%zu threads, not %zu", b->n_threads, a->n_threads);
        return false;
    }
    for (size_t api = 0; api < API_COUNT; api++)
        if (!depends_on_who_is_first((enum api)api) &&
            !is_about(a->calls[api], b->calls[api], FEW_CALLS, CALL_TOLERANCE)) {
            snprintf(text, bytes, "%" PRIu64 " calls of %s, not %" PRIu64, b->calls[api],
                     api_catalog[api].name, a->calls[api]);
            return false;
        }
    return true;
}

/* ---- consequences ---- */

static int compare_ns(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void summarize_plain_runs(struct trace_meta *meta) {
    size_t n = meta->n_untraced;
    meta->untraced_run_ns = meta->untraced_spread_ns = 0;
    if (n == 0)
        return;
    uint64_t *runs_ns = memory_alloc(n, sizeof *runs_ns);
    for (size_t i = 0; i < n; i++)
        runs_ns[i] = meta->untraced[i].run_ns;
    qsort(runs_ns, n, sizeof *runs_ns, compare_ns);
    meta->untraced_run_ns = (runs_ns[(n - 1) / 2] + runs_ns[n / 2]) / 2;
    meta->untraced_spread_ns = runs_ns[n - 1] - runs_ns[0];
    free(runs_ns);
}

void same_work_of_plain_runs(struct trace *trace, const struct work *work) {
    struct trace_meta *meta = &trace->meta;
    struct trace_plain_run other = {0}; /* one of them */
    size_t n = meta->n_untraced;
    meta->n_untraced = 0;
    for (size_t i = 0; i < n; i++) {
        struct trace_plain_run run = meta->untraced[i];
        if (same_work_by_time(work, run.run_ns, run.cpu_ns))
            meta->untraced[meta->n_untraced++] = run;
        else
            other = run;
    }
    if (n > meta->n_untraced)
        trace_add_lack(
            meta,
            "run time without probes: %zu of %zu runs did other work and do not count (%.3f s, "
            "%.3f s "
            "of CPU time; traced %.3f s, %.3f s): " UNDO ", and give input that is not typed",
            n - meta->n_untraced, n, (double)other.run_ns / 1e9, (double)other.cpu_ns / 1e9,
            (double)work->run_ns / 1e9, (double)work->cpu_ns / 1e9);
    summarize_plain_runs(meta);
}

void same_work_of_first(struct trace *trace, const struct work *work, const struct run_end *first,
                        bool is_served) {
    if (!first->known || first->n_threads == 0) /* a plain one: it has been looked at */
        return;
    if (!is_served && !is_about(first->n_threads, work->n_threads, 0, THREAD_TOLERANCE))
        trace_add_lack(
            &trace->meta,
            "which functions matter: the sampled run had %zu threads and the traced one %zu: it "
            "did other work, or made threads that the probes do not see; " UNDO,
            first->n_threads, work->n_threads);
    else if (!same_work_by_time(work, first->run_ns, first->cpu_ns))
        trace_add_lack(
            &trace->meta,
            "which functions matter: the sampled run did other work (%.3f s, %.3f s of CPU time; "
            "traced %.3f s, %.3f s): " UNDO,
            (double)first->run_ns / 1e9, (double)first->cpu_ns / 1e9, (double)work->run_ns / 1e9,
            (double)work->cpu_ns / 1e9);
}

/* The files that stay are numbered without a gap. */
void same_work_of_evicted(struct trace *trace, const struct work *work, const struct work *evicted,
                          size_t n, const char *directory) {
    size_t kept = 0;
    char text[128], first_text[128] = "";
    for (size_t i = 0; i < n; i++) {
        char *path = memory_format("%s/evictions-%zu.persik", directory, i + 1);
        char *name = memory_format("%s/evictions-%zu.persik", directory, kept + 1);
        if (!same_work_by_calls(work, &evicted[i], text, sizeof text)) {
            unlink(path);
            if (!first_text[0])
                snprintf(first_text, sizeof first_text, "%s", text);
        } else if (kept++ != i) {
            rename(path, name);
        }
        free(path);
        free(name);
    }
    if (kept < n)
        trace_add_lack(
            &trace->meta,
            "what it costs threads to lose their caches: %zu of %zu runs with emptied caches did "
            "other work and do not count (%s): " UNDO,
            n - kept, n, first_text);
}
