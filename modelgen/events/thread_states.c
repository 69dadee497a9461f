#include "modelgen/events/thread_states.h"

#include <stdlib.h>

#include "base/bisection.h"
#include "base/memory.h"

static bool record_blocks(const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    return info->api_class == CLASS_SYNC || info->api_class == CLASS_TIME || info->op == OP_JOIN ||
           info->op == OP_POLL || info->op == OP_ACCEPT || info->op == OP_RECEIVE;
}

struct thread_states thread_states_make(const struct trace_thread *thread) {
    struct thread_states timeline = {.thread = thread};
    if (thread->n_slices) {
        timeline.cpu_before = memory_alloc(thread->n_slices + 1, sizeof(double));
        for (size_t i = 0; i < thread->n_slices; i++)
            timeline.cpu_before[i + 1] =
                timeline.cpu_before[i] +
                (double)(thread->slices[i].off_ns - thread->slices[i].on_ns);
    } else {
        timeline.off_before = memory_alloc(thread->n_records + 1, sizeof(double));
        for (size_t i = 0; i < thread->n_records; i++) {
            const struct trace_record *record = &thread->records[i];
            timeline.off_before[i + 1] =
                timeline.off_before[i] + (record_blocks(record) ? (double)record->duration_ns : 0);
        }
    }
    return timeline;
}

void thread_states_free(struct thread_states *timeline) {
    free(timeline->cpu_before);
    free(timeline->off_before);
    for (size_t i = 0; i < timeline->n_cuts; i++)
        free(timeline->cuts[i].items);
    *timeline = (struct thread_states){.thread = timeline->thread};
}

static double cpu_without_slices(const struct thread_states *timeline, uint64_t time_ns) {
    const struct trace_thread *thread = timeline->thread;
    if (time_ns <= thread->start_ns)
        return 0;
    size_t begun = trace_records_begun(thread, time_ns);
    double off = timeline->off_before[begun];
    if (begun > 0) {
        const struct trace_record *last = &thread->records[begun - 1];
        uint64_t end = trace_end_ns(last);
        if (end > time_ns && record_blocks(last))
            off -= (double)(end - time_ns);
    }
    return (double)(time_ns - thread->start_ns) - off;
}

/* The first loss on the core that begins at or after `time_ns`. */
static size_t find_loss(const struct excluded_time *losses, uint32_t cpu, uint64_t time_ns) {
    struct bisection at = bisection_of(0, losses->count);
    while (bisection_next(&at)) {
        const struct excluded_interval *loss = &losses->items[at.middle];
        bisection_tell(&at, loss->cpu < cpu || (loss->cpu == cpu && loss->from_ns < time_ns));
    }
    return at.low;
}

static double cut_ns(const struct cut *cut, uint64_t until_ns) {
    return cut->share * (double)(until_ns - cut->from_ns);
}

/* Those of one slice. */
static void cut_slice(struct cuts *cuts, const struct trace_slice *slice,
                      const struct excluded_time *losses) {
    for (size_t i = find_loss(losses, slice->cpu, slice->on_ns); i < losses->count; i++) {
        const struct excluded_interval *loss = &losses->items[i];
        if (loss->cpu != slice->cpu || loss->from_ns >= slice->off_ns)
            return;
        const struct cut *last = cuts->count ? &cuts->items[cuts->count - 1] : NULL;
        struct cut cut = {loss->from_ns, loss->to_ns, loss->share, 0};
        if (last && cut.from_ns < last->to_ns) { /* one after the other */
            cut.to_ns += last->to_ns - cut.from_ns;
            cut.from_ns = last->to_ns;
        }
        cut.to_ns = cut.to_ns < slice->off_ns ? cut.to_ns : slice->off_ns;
        if (last)
            cut.before_ns = last->before_ns + cut_ns(last, last->to_ns);
        if (cut.from_ns < cut.to_ns)
            *VECTOR_ADD(cuts) = cut;
    }
}

void thread_states_leave_out(struct thread_states *timeline, const struct excluded_time *losses) {
    struct cuts *cuts = &timeline->cuts[timeline->n_cuts++];
    for (size_t s = 0; s < timeline->thread->n_slices; s++)
        cut_slice(cuts, &timeline->thread->slices[s], losses);
}

/* CPU ns up to `time_ns` that are left out. */
static double left_out(const struct cuts *cuts, uint64_t time_ns) {
    struct bisection at = bisection_of(0, cuts->count);
    while (bisection_next(&at))
        bisection_tell(&at, cuts->items[at.middle].from_ns < time_ns);
    if (at.low == 0)
        return 0;
    const struct cut *cut = &cuts->items[at.low - 1];
    return cut->before_ns + cut_ns(cut, time_ns < cut->to_ns ? time_ns : cut->to_ns);
}

/* Ns on a core up to `time_ns`, whatever for. */
static double on_core(const struct thread_states *timeline, uint64_t time_ns) {
    const struct trace_thread *thread = timeline->thread;
    if (!timeline->cpu_before)
        return cpu_without_slices(timeline, time_ns);
    size_t begun = trace_slices_begun(thread, time_ns);
    if (begun == 0)
        return 0;
    const struct trace_slice *slice = &thread->slices[begun - 1];
    uint64_t until = time_ns < slice->off_ns ? time_ns : slice->off_ns;
    return timeline->cpu_before[begun - 1] + (double)(until - slice->on_ns);
}

void thread_states_keep_between(struct thread_states *timeline, uint64_t from_ns, uint64_t to_ns) {
    timeline->from_ns = from_ns;
    timeline->to_ns = to_ns;
}

static double used_until(const struct thread_states *timeline, uint64_t time_ns) {
    double cpu_ns = on_core(timeline, time_ns);
    for (size_t i = 0; i < timeline->n_cuts; i++)
        cpu_ns -= left_out(&timeline->cuts[i], time_ns);
    return cpu_ns;
}

double thread_states_cpu(const struct thread_states *timeline, uint64_t time_ns) {
    if (timeline->to_ns == 0)
        return used_until(timeline, time_ns);
    if (time_ns <= timeline->from_ns)
        return 0;
    uint64_t until_ns = time_ns < timeline->to_ns ? time_ns : timeline->to_ns;
    return used_until(timeline, until_ns) - used_until(timeline, timeline->from_ns);
}

/* When the thread became ready before slice `i`; its on_ns when it did not have to wait. */
static uint64_t ready_since(const struct trace_thread *thread, size_t i) {
    const struct trace_slice *slice = &thread->slices[i];
    uint64_t since = slice->on_ns;
    if (i > 0 && thread->slices[i - 1].preempted)
        since = thread->slices[i - 1].off_ns;
    else if (slice->wake_ns && slice->wake_ns < slice->on_ns &&
             (i == 0 || slice->wake_ns >= thread->slices[i - 1].off_ns))
        since = slice->wake_ns;
    return since;
}

double thread_states_ready(const struct thread_states *timeline, uint64_t from_ns, uint64_t to_ns) {
    const struct trace_thread *thread = timeline->thread;
    double ready = 0;
    size_t i = trace_slices_begun(thread, from_ns);
    for (; i < thread->n_slices; i++) {
        uint64_t since = ready_since(thread, i), on = thread->slices[i].on_ns;
        if (since >= to_ns)
            break;
        uint64_t low = since > from_ns ? since : from_ns;
        uint64_t high = on < to_ns ? on : to_ns;
        if (high > low)
            ready += (double)(high - low);
        if (on >= to_ns)
            break;
    }
    return ready;
}

double thread_states_blocked(const struct thread_states *timeline, uint64_t from_ns,
                             uint64_t to_ns) {
    double blocked = (double)(to_ns - from_ns) -
                     (on_core(timeline, to_ns) - on_core(timeline, from_ns)) -
                     thread_states_ready(timeline, from_ns, to_ns);
    return blocked > 0 ? blocked : 0;
}

size_t thread_states_sleeps(const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns) {
    size_t sleeps = 0;
    for (size_t i = trace_slice_after(thread, from_ns);
         i < thread->n_slices && thread->slices[i].off_ns < to_ns; i++)
        sleeps += !thread->slices[i].preempted;
    return sleeps;
}

uint64_t thread_states_woken(const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns) {
    for (size_t i = trace_slices_begun(thread, to_ns); i > 0; i--) {
        const struct trace_slice *slice = &thread->slices[i - 1];
        if (slice->wake_ns >= from_ns && slice->wake_ns <= to_ns)
            return slice->wake_ns;
        if (slice->on_ns < from_ns)
            break;
    }
    return 0;
}

struct thread_states_totals thread_states_totals(const struct thread_states *timeline) {
    const struct trace_thread *thread = timeline->thread;
    struct thread_states_totals parts = {.life_ns = (double)(thread->end_ns - thread->start_ns)};
    parts.cpu_ns = thread_states_cpu(timeline, thread->end_ns);
    parts.ready_ns = thread_states_ready(timeline, thread->start_ns, thread->end_ns);
    for (size_t i = 0; i < thread->n_records; i++) {
        const struct trace_record *record = &thread->records[i];
        parts.wait_ns += thread_states_blocked(timeline, record->start_ns, trace_end_ns(record));
    }
    double rest = parts.life_ns - parts.cpu_ns - parts.ready_ns - parts.wait_ns;
    parts.unexplained_ns = rest > 0 ? rest : 0;
    return parts;
}

void thread_states_copy_slices(const struct trace_thread *from, uint64_t low_ns, uint64_t high_ns,
                               struct trace_thread *to) {
    size_t first = trace_slice_after(from, low_ns);
    size_t last = first;
    while (last < from->n_slices && from->slices[last].on_ns < high_ns)
        last++;
    if (last == first)
        return;
    to->slices = memory_resize(to->slices, to->n_slices + last - first, sizeof *to->slices);
    for (size_t s = first; s < last; s++) {
        struct trace_slice slice = from->slices[s];
        slice.on_ns = slice.on_ns > low_ns ? slice.on_ns : low_ns;
        slice.off_ns = slice.off_ns < high_ns ? slice.off_ns : high_ns;
        slice.wake_ns = slice.wake_ns > low_ns ? slice.wake_ns : 0;
        if (slice.off_ns > slice.on_ns)
            to->slices[to->n_slices++] = slice;
    }
}

double thread_states_on_core(const struct trace *trace) {
    double on_core_ns = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < trace->threads[t].n_slices; s++)
            on_core_ns +=
                (double)(trace->threads[t].slices[s].off_ns - trace->threads[t].slices[s].on_ns);
    return on_core_ns;
}

double thread_states_stolen(const struct trace *trace) {
    double counted_ns = (double)trace->meta.cpu_ns, on_core_ns = thread_states_on_core(trace);
    return counted_ns > 0 && on_core_ns > counted_ns ? on_core_ns - counted_ns : 0;
}
