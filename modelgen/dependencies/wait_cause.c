#include "modelgen/dependencies/wait_cause.h"

#include "modelgen/events/scheduling_events.h"

/* ---- what the recorded calls tell ---- */

struct telling {
    enum link_kind link;
    struct giver giver; /* a step of DEPENDENCIES_NONE: the thread's, as it is now */
};
#define TELLS_NOTHING ((struct telling){LINK_NONE, NO_GIVER})

static struct telling tell(enum link_kind link, struct giver giver, uint32_t thread) {
    if (giver.thread == DEPENDENCIES_NONE || giver.thread == thread)
        return TELLS_NOTHING;
    return (struct telling){link, giver};
}

static struct telling tell_condition(struct run_state *run, uint32_t thread,
                                     const struct trace_record *call) {
    struct thread_run *is = &run->threads[thread];
    const struct sync_object *condition = run_state_object(run, is->object);
    const struct sync_object *mutex = run_state_object(run, is->mutex);
    if (!is->is_signalled && condition && condition->signal.thread != DEPENDENCIES_NONE &&
        condition->signal.time_ns >= call->start_ns) {
        is->is_signalled = true;
        return tell(LINK_SIGNAL, condition->signal, thread);
    }
    if (mutex && mutex->release.thread != DEPENDENCIES_NONE &&
        mutex->release.time_ns >= call->start_ns)
        return tell(LINK_LOCK, mutex->release, thread);
    return TELLS_NOTHING;
}

static struct telling tell_join(const struct run_state *run, uint32_t thread,
                                const struct trace_record *call) {
    bool is_known = call->value >= 0 && (size_t)call->value < run->trace->n_threads;
    struct giver ended = {(uint32_t)call->value, DEPENDENCIES_NONE, 0};
    return is_known ? tell(LINK_JOIN, ended, thread) : TELLS_NOTHING;
}

/* The kernel passes bytes on in an interrupt of its own, while whoever sends them still does so. */
static struct telling tell_bytes(const struct run_state *run, uint32_t thread, uint64_t now_ns) {
    struct giver sender = run->sender;
    sender.step = DEPENDENCIES_NONE;
    return run->sender_until_ns + SCHEDULING_CLOCKS_NS >= now_ns ? tell(LINK_BYTES, sender, thread)
                                                                 : TELLS_NOTHING;
}

static struct telling tell_calls(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    const struct thread_run *is = &run->threads[thread];
    const struct trace_record *call = thread_moments_call(&is->at);
    const struct sync_object *object = run_state_object(run, is->object);
    if (!call)
        return TELLS_NOTHING;
    if (trace_is_condition_wait(call))
        return tell_condition(run, thread, call);
    switch (trace_op(call)) {
    case OP_LOCK:
    case OP_TIMEDLOCK:
    case OP_RDLOCK:
    case OP_TIMEDRDLOCK:
    case OP_WRLOCK:
    case OP_TIMEDWRLOCK:
        return object ? tell(LINK_LOCK, object->release, thread) : TELLS_NOTHING;
    case OP_ACQUIRE:
    case OP_TIMEDACQUIRE:
        return object ? tell(LINK_PERMIT, object->release, thread) : TELLS_NOTHING;
    case OP_GET:
        return object ? tell(LINK_ITEM, object->release, thread) : TELLS_NOTHING;
    case OP_PUT:
        return object ? tell(LINK_SPACE, object->signal, thread) : TELLS_NOTHING;
    case OP_WAIT: /* of an event */
        return object ? tell(LINK_SIGNAL, object->signal, thread) : TELLS_NOTHING;
    case OP_BARRIER:
        return object ? tell(LINK_BARRIER, object->opened, thread) : TELLS_NOTHING;
    case OP_ONCE:
        return object ? tell(LINK_ONCE, object->doer, thread) : TELLS_NOTHING;
    case OP_JOIN:
        return tell_join(run, thread, call);
    case OP_READ:
    case OP_RECEIVE:
    case OP_POLL:
    case OP_ACCEPT:
        return tell_bytes(run, thread, now_ns);
    default:
        return TELLS_NOTHING;
    }
}

/* ---- what the kernel tells ---- */

/* What others wait for that the call brings. */
static enum link_kind link_of(const struct trace_record *call) {
    switch (trace_op(call)) {
    case OP_UNLOCK:
    case OP_RWUNLOCK:
        return LINK_LOCK;
    case OP_WAIT: /* gives its mutex back first */
    case OP_TIMEDWAIT:
        return trace_is_condition_wait(call) ? LINK_LOCK : LINK_WAKER;
    case OP_SIGNAL:
    case OP_BROADCAST:
        return LINK_SIGNAL;
    case OP_RELEASE:
        return LINK_PERMIT;
    case OP_BARRIER:
        return LINK_BARRIER;
    case OP_CREATE:
        return LINK_CREATE;
    case OP_ONCE:
        return LINK_ONCE;
    case OP_PUT:
    case OP_TRYPUT:
        return LINK_ITEM;
    case OP_GET:
    case OP_TRYGET:
        return LINK_SPACE;
    case OP_READ:
    case OP_WRITE:
    case OP_SEND:
    case OP_RECEIVE:
    case OP_CLOSE:
    case OP_CONNECT:
    case OP_ACCEPT:
        return LINK_BYTES;
    case OP_NOTIFY:
        return LINK_NOTICE;
    default:
        return LINK_WAKER;
    }
}

static enum link_kind link_of_waker(const struct run_state *run, uint32_t thread, uint32_t waker) {
    const struct trace_record *call = thread_moments_call(&run->threads[thread].at);
    const struct trace_record *made = thread_moments_last_call(&run->threads[waker].at);
    return call && made ? link_of(made) : LINK_WAKER;
}

static struct dependency_step ended_by(const struct run_state *run, uint32_t thread,
                                       enum link_kind link, uint32_t cause) {
    const struct thread_run *is = &run->threads[thread];
    const struct trace_record *call = thread_moments_call(&is->at);
    if (cause == DEPENDENCIES_NONE)
        return run_state_step(run, thread, STEP_UNEXPLAINED);
    struct dependency_step step = run_state_step(run, thread, STEP_BLOCKED);
    step.cause = cause;
    step.cause_kind = (uint8_t)link;
    if (link == LINK_LOCK && call && trace_is_condition_wait(call))
        step.object = is->mutex;
    return step;
}

/* ---- waits that no thread ended ---- */

bool wait_cause_may_block(const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    return info->api_class == CLASS_SYNC || info->api_class == CLASS_TIME ||
           info->api_class == CLASS_IN || info->op == OP_JOIN || info->op == OP_POLL ||
           info->op == OP_ACCEPT || info->op == OP_RECEIVE;
}

/* Others end these, or an interrupt on their behalf; the rest that "sleeps" does so until a time.
 */
static bool is_for_others(const struct trace_record *call) {
    switch (call->api) {
    case API_std_future_wait:
    case API_semop:
    case API_semtimedop:
    case API_semctl:
    case API_sigwait:
    case API_sigwaitinfo:
    case API_sigtimedwait:
    case API_sigsuspend:
        return true;
    default:
        return false;
    }
}

static bool is_over_by_time(const struct trace_record *call) {
    return (trace_op(call) == OP_SLEEP && !is_for_others(call)) || call->flags & TRACE_TIMEDOUT ||
           (trace_op(call) == OP_POLL && call->value == 0);
}

/* What may be read from is a file, a pipe or a terminal; what is waited for besides is a disk. */
static bool is_of_disk(const struct trace_record *call, bool in_interrupt) {
    const struct api_info *info = &api_catalog[call->api];
    return info->api_class == CLASS_IO && info->object == ON_FILE && info->op != OP_POLL &&
           (info->op != OP_READ || in_interrupt);
}

/* `slice` NULL: it is not known who woke the thread; else nobody that was recorded. */
static enum step_kind kind_without_waker(const struct run_state *run, uint32_t thread,
                                         const struct trace_slice *slice, uint64_t now_ns) {
    const struct trace_record *call = thread_moments_call(&run->threads[thread].at);
    int tid = run->trace->threads[thread].tid;
    uint64_t since_ns = step_log_now(&run->log, thread);
    bool in_interrupt = slice && slice->in_interrupt;
    if (call && is_over_by_time(call))
        return STEP_SLEEP;
    /* A device is done before its interrupt wakes anybody. */
    if (device_waits_has(&run->devices, tid, since_ns, now_ns + SCHEDULING_CLOCKS_NS) ||
        (call && is_of_disk(call, in_interrupt)))
        return STEP_DEVICE;
    bool is_io = call && api_catalog[call->api].api_class == CLASS_IO;
    return call && slice && (is_io || !in_interrupt) ? STEP_OUTSIDE : STEP_UNEXPLAINED;
}

/* ---- one wait ---- */

static uint32_t step_of(struct run_state *run, const struct giver *giver, uint64_t now_ns) {
    return giver->step != DEPENDENCIES_NONE ? giver->step
                                            : run_state_cut(run, giver->thread, now_ns);
}

/* Who opens a barrier does so for all who came: each of them is a cause, not only the last one. */
static bool stands_for_many(const struct telling *told) {
    return told->link == LINK_BARRIER && told->giver.step != DEPENDENCIES_NONE;
}

static struct dependency_step woken_by(struct run_state *run, uint32_t thread, uint32_t waker,
                                       const struct telling *told, uint64_t now_ns) {
    bool agrees = told->giver.thread == waker;
    enum link_kind link = agrees ? told->link : link_of_waker(run, thread, waker);
    uint32_t cause =
        agrees && stands_for_many(told) ? told->giver.step : run_state_cut(run, waker, now_ns);
    struct dependency_step step = ended_by(run, thread, link, cause);
    if (told->link != LINK_NONE)
        step.witness = agrees ? WITNESS_CONFIRMS : WITNESS_DENIES;
    return step;
}

struct dependency_step wait_cause_find(struct run_state *run, uint32_t thread,
                                       const struct trace_slice *slice, uint64_t now_ns) {
    bool has_wakers = slice && slice->wake_ns > 0 && run->trace->meta.has_wakers;
    struct telling told = tell_calls(run, thread, now_ns);
    uint32_t waker = has_wakers ? slice->waker : 0;
    if (waker > 0 && waker - 1 != thread)
        return woken_by(run, thread, waker - 1, &told, now_ns);
    bool was_foreign = has_wakers && !slice->in_interrupt;
    const struct trace_record *call = thread_moments_call(&run->threads[thread].at);
    bool is_over = call && call->flags & TRACE_TIMEDOUT; /* nobody but the clock ended it */
    if (told.link != LINK_NONE && !was_foreign && !is_over)
        return ended_by(run, thread, told.link, step_of(run, &told.giver, now_ns));
    return run_state_step(run, thread,
                          kind_without_waker(run, thread, has_wakers ? slice : NULL, now_ns));
}
