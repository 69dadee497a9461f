#include "modelgen/dependencies/thread_moments.h"

/* The wake-up before the time on a core; 0: not known. */
static uint64_t wake_before(const struct trace_thread *thread, size_t slice) {
    const struct trace_slice *next = &thread->slices[slice];
    uint64_t since_ns = slice > 0 ? next[-1].off_ns : 0;
    return next->wake_ns >= since_ns && next->wake_ns <= next->on_ns ? next->wake_ns : 0;
}

uint64_t thread_moments_begin(const struct trace_thread *thread) {
    uint64_t wake_ns = thread->n_slices > 0 ? wake_before(thread, 0) : 0;
    return wake_ns > 0 && wake_ns < thread->start_ns ? wake_ns : thread->start_ns;
}

static void offer(struct thread_moments *at, uint64_t time_ns, enum moment_kind kind) {
    if (at->kind == MOMENT_NEVER || time_ns < at->time_ns ||
        (time_ns == at->time_ns && kind < at->kind)) {
        at->time_ns = time_ns;
        at->kind = kind;
    }
}

static void offer_core(struct thread_moments *at) {
    if (at->slice >= at->thread->n_slices)
        return;
    const struct trace_slice *slice = &at->thread->slices[at->slice];
    if (at->state == THREAD_ON_CORE)
        offer(at, slice->off_ns, MOMENT_OFF);
    else if (at->state == THREAD_BLOCKED && wake_before(at->thread, at->slice) > 0)
        offer(at, wake_before(at->thread, at->slice), MOMENT_WOKEN);
    else
        offer(at, slice->on_ns, MOMENT_ON);
}

static void find_next(struct thread_moments *at) {
    const struct trace_thread *thread = at->thread;
    at->kind = MOMENT_NEVER;
    if (at->record < thread->n_records) {
        const struct trace_record *record = &thread->records[at->record];
        offer(at, at->in_call ? trace_end_ns(record) : record->start_ns,
              at->in_call ? MOMENT_RETURN : MOMENT_CALL);
    }
    offer_core(at);
    if (at->kind == MOMENT_NEVER)
        offer(at, thread->end_ns, MOMENT_END);
}

struct thread_moments thread_moments_of(const struct trace_thread *thread) {
    struct thread_moments at = {.thread = thread,
                                .time_ns = thread_moments_begin(thread),
                                .kind = MOMENT_BORN,
                                .state = thread->n_slices > 0 ? THREAD_READY : THREAD_ON_CORE};
    return at;
}

static void make_call(struct thread_moments *at) {
    if (at->thread->records[at->record].duration_ns > 0)
        at->in_call = true;
    else
        at->record++;
}

void thread_moments_pass(struct thread_moments *at) {
    switch (at->kind) {
    case MOMENT_BORN:
        break;
    case MOMENT_OFF:
        at->state = at->thread->slices[at->slice].preempted ? THREAD_READY : THREAD_BLOCKED;
        at->slice++;
        break;
    case MOMENT_WOKEN:
        at->state = THREAD_READY;
        break;
    case MOMENT_ON:
        at->state = THREAD_ON_CORE;
        break;
    case MOMENT_CALL:
        make_call(at);
        break;
    case MOMENT_RETURN:
        at->in_call = false;
        at->record++;
        break;
    default:
        at->kind = MOMENT_NEVER;
        return;
    }
    find_next(at);
}

const struct trace_record *thread_moments_call(const struct thread_moments *at) {
    return at->in_call ? &at->thread->records[at->record] : NULL;
}

const struct trace_record *thread_moments_last_call(const struct thread_moments *at) {
    if (at->in_call)
        return &at->thread->records[at->record];
    return at->record > 0 ? &at->thread->records[at->record - 1] : NULL;
}

uint32_t thread_moments_context(const struct thread_moments *at) {
    const struct trace_thread *thread = at->thread;
    if (thread->n_records == 0)
        return TRACE_NO_CONTEXT;
    size_t record = at->record < thread->n_records ? at->record : thread->n_records - 1;
    return thread->records[record].context;
}
