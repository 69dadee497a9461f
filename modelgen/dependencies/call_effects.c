#include "modelgen/dependencies/call_effects.h"

#include "base/memory.h"
#include "modelgen/dependencies/pool_steps.h"

static bool succeeded(const struct trace_record *record) {
    return !(record->flags & (TRACE_FAILED | TRACE_UNFINISHED));
}

/* ---- held locks ---- */

static void hold(struct thread_run *is, uint32_t lock) {
    if (is->n_held < HELD_LOCKS)
        is->held[is->n_held++] = lock;
}

static void let_go(struct thread_run *is, uint32_t lock) {
    for (size_t i = is->n_held; i > 0; i--)
        if (is->held[i - 1] == lock) {
            for (; i < is->n_held; i++)
                is->held[i - 1] = is->held[i];
            is->n_held--;
            return;
        }
}

/* Older traces do not say which mutex a wait for a condition gives back: it is likely the
 * innermost.
 */
static uint32_t mutex_of_wait(const struct run_state *run, const struct thread_run *is,
                              const struct trace_record *wait) {
    for (size_t i = is->n_held; i > 0 && wait->value != 0; i--)
        if (trace_mutex_value(run_state_object(run, is->held[i - 1])->address) == wait->value)
            return is->held[i - 1];
    return is->n_held > 0 ? is->held[is->n_held - 1] : DEPENDENCIES_NONE;
}

/* ---- what it must have waited for ---- */

static struct limit limit_by(struct giver giver, uint32_t thread, enum link_kind link) {
    bool is_other = giver.step != DEPENDENCIES_NONE && giver.thread != thread;
    return is_other ? (struct limit){giver.step, link}
                    : (struct limit){DEPENDENCIES_NONE, LINK_NONE};
}

static struct limit take_lock(struct thread_run *is, uint32_t thread, struct sync_object *object,
                              uint32_t index, enum api_op op) {
    bool reads = op == OP_RDLOCK || op == OP_TRYRDLOCK || op == OP_TIMEDRDLOCK;
    bool writes = op == OP_WRLOCK || op == OP_TRYWRLOCK || op == OP_TIMEDWRLOCK;
    hold(is, index);
    object->written = writes;
    return limit_by(reads ? object->write : object->release, thread, LINK_LOCK);
}

/* Also who finds the other thread ended would have waited for it. */
static struct limit join_thread(const struct run_state *run, uint32_t thread,
                                const struct trace_record *record) {
    bool is_known = record->value >= 0 && (size_t)record->value < run->trace->n_threads;
    if (!is_known || !succeeded(record))
        return (struct limit){DEPENDENCIES_NONE, LINK_NONE};
    uint32_t ended = (uint32_t)record->value;
    return limit_by((struct giver){ended, step_log_last(&run->log, ended), 0}, thread, LINK_JOIN);
}

struct limit call_effects_take(struct run_state *run, uint32_t thread,
                               const struct trace_record *record, uint32_t index) {
    struct thread_run *is = &run->threads[thread];
    struct sync_object *object = run_state_object(run, index);
    const struct limit none = {DEPENDENCIES_NONE, LINK_NONE};
    if (trace_op(record) == OP_JOIN)
        return join_thread(run, thread, record);
    if (!object || (!succeeded(record) && !trace_is_condition_wait(record)))
        return none;
    if (trace_is_condition_wait(record)) {
        const struct sync_object *mutex = run_state_object(run, is->mutex);
        if (!mutex)
            return none;
        hold(is, is->mutex);
        return limit_by(mutex->release, thread, LINK_LOCK);
    }
    switch (trace_op(record)) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
    case OP_RDLOCK:
    case OP_TRYRDLOCK:
    case OP_TIMEDRDLOCK:
    case OP_WRLOCK:
    case OP_TRYWRLOCK:
    case OP_TIMEDWRLOCK:
        return take_lock(is, thread, object, index, trace_op(record));
    case OP_ACQUIRE:
    case OP_TRYACQUIRE:
    case OP_TIMEDACQUIRE:
        return object->counts ? limit_by(tokens_take(&object->given), thread, LINK_PERMIT) : none;
    case OP_GET:
    case OP_TRYGET:
        object->signal = (struct giver){thread, step_log_last(&run->log, thread), 0};
        if (object->is_bounded)
            tokens_give(&object->room, object->signal);
        return object->counts ? limit_by(tokens_take(&object->given), thread, LINK_ITEM) : none;
    case OP_PUT:
    case OP_TRYPUT:
        return object->is_bounded ? limit_by(tokens_take(&object->room), thread, LINK_SPACE) : none;
    case OP_BARRIER: /* also who came last would have waited for the others */
        return limit_by(object->opened, DEPENDENCIES_NONE, LINK_BARRIER);
    default:
        return none;
    }
}

/* ---- what it gives ---- */

/* A barrier is a thread of its own that all who come keep from its next step: the one that lets
 * them go on depends on each of them, whoever is last. */
static void arrive(struct run_state *run, struct sync_object *object, struct giver arrival) {
    if (object->gate == DEPENDENCIES_NONE)
        object->gate = step_log_thread(&run->log, memory_strdup("barrier"), arrival.time_ns, true);
    struct dependency_step step = {.kind = STEP_BLOCKED,
                                   .thread = object->gate,
                                   .place = DEPENDENCIES_NONE,
                                   .object = DEPENDENCIES_NONE,
                                   .cause = arrival.step,
                                   .cause_kind = LINK_BARRIER,
                                   .limit = DEPENDENCIES_NONE,
                                   .operand = DEPENDENCIES_NONE};
    uint32_t gate_step = step_log_end(&run->log, step, arrival.time_ns);
    object->arrived++;
    if (object->parties == 0 || object->arrived % object->parties == 0)
        object->opened = (struct giver){arrival.thread, gate_step, arrival.time_ns};
}

static void begin_condition_wait(struct run_state *run, struct thread_run *is, struct giver now) {
    is->is_signalled = false;
    struct sync_object *mutex = run_state_object(run, is->mutex);
    if (!mutex)
        return;
    mutex->release = now;
    let_go(is, is->mutex);
}

static void unlock(struct thread_run *is, struct sync_object *object, uint32_t index,
                   struct giver now) {
    object->release = now;
    if (object->written)
        object->write = now;
    object->written = false;
    let_go(is, index);
}

static void send(struct run_state *run, const struct trace_record *record, struct giver now) {
    run->sender = now;
    run->sender_until_ns = trace_end_ns(record);
}

void call_effects_give(struct run_state *run, uint32_t thread, const struct trace_record *record,
                       uint32_t index, uint32_t step) {
    struct thread_run *is = &run->threads[thread];
    struct sync_object *object = run_state_object(run, index);
    struct giver now = {thread, step, record->start_ns};
    if (!object)
        return;
    if (trace_is_condition_wait(record)) {
        begin_condition_wait(run, is, now);
        return;
    }
    switch (trace_op(record)) {
    case OP_UNLOCK:
    case OP_RWUNLOCK:
        unlock(is, object, index, now);
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        object->signal = now;
        break;
    case OP_RELEASE:
    case OP_PUT:
    case OP_TRYPUT:
        object->release = now;
        if (object->counts && succeeded(record))
            tokens_give(&object->given, now);
        break;
    case OP_BARRIER:
        arrive(run, object, now);
        break;
    case OP_ONCE:
        if (object->doer.thread == DEPENDENCIES_NONE)
            object->doer = (struct giver){thread, DEPENDENCIES_NONE, now.time_ns};
        break;
    case OP_WRITE:
    case OP_SEND:
    case OP_CONNECT:
    case OP_CLOSE:
        send(run, record, now);
        break;
    default:
        break;
    }
}

/* ---- what is replayed ---- */

static enum step_operation taking(const struct trace_record *record,
                                  const struct sync_object *object) {
    switch (trace_op(record)) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
    case OP_WRLOCK:
    case OP_TRYWRLOCK:
    case OP_TIMEDWRLOCK:
        return record->flags & TRACE_SPINS ? OPERATION_SPIN : OPERATION_LOCK;
    case OP_RDLOCK:
    case OP_TRYRDLOCK:
    case OP_TIMEDRDLOCK:
        return OPERATION_SHARE;
    case OP_ACQUIRE:
    case OP_TRYACQUIRE:
    case OP_TIMEDACQUIRE:
    case OP_GET:
    case OP_TRYGET:
        return object->counts ? OPERATION_TAKE : OPERATION_NONE;
    case OP_PUT:
    case OP_TRYPUT: /* which may have to wait for room */
        return object->counts ? OPERATION_GIVE : OPERATION_NONE;
    default:
        return OPERATION_NONE;
    }
}

static enum step_operation giving(const struct trace_record *record,
                                  const struct sync_object *object) {
    switch (trace_op(record)) {
    case OP_UNLOCK:
    case OP_RWUNLOCK:
        return OPERATION_UNLOCK;
    case OP_RELEASE:
        return object->counts ? OPERATION_GIVE : OPERATION_NONE;
    case OP_INIT:
        return !object->counts              ? OPERATION_NONE
               : object->on == ON_SEMAPHORE ? OPERATION_PERMIT
                                            : OPERATION_BOUND;
    default:
        return OPERATION_NONE;
    }
}

void call_effects_begin(struct run_state *run, uint32_t thread, const struct trace_record *record,
                        uint32_t index) {
    struct thread_run *is = &run->threads[thread];
    struct sync_object *object = run_state_object(run, index);
    if (object && trace_is_condition_wait(record)) {
        is->mutex = mutex_of_wait(run, is, record);
        is->is_paused = pool_steps_explain(run, thread, is->at.record);
    } else if (object && trace_op(record) == OP_INIT) {
        sync_object_begin(object, record->value);
    }
}

static bool signals(const struct trace_record *record) {
    return trace_op(record) == OP_SIGNAL || trace_op(record) == OP_BROADCAST;
}

void call_effects_tell(const struct run_state *run, uint32_t thread,
                       const struct trace_record *record, bool returns,
                       struct dependency_step *step) {
    const struct thread_run *is = &run->threads[thread];
    const struct sync_object *object = run_state_object(run, is->object);
    bool is_done = returns || record->duration_ns == 0;
    enum step_operation operation = OPERATION_NONE;
    step->operand = is->object;
    if (object && trace_is_condition_wait(record)) {
        step->operand = is->mutex;
        operation = is->mutex == DEPENDENCIES_NONE ? OPERATION_NONE
                    : record->duration_ns == 0     ? OPERATION_NONE /* back at once */
                    : is->is_paused && returns     ? OPERATION_RESUME
                    : is->is_paused                ? OPERATION_PAUSE
                    : returns                      ? OPERATION_LOCK
                                                   : OPERATION_WAIT;
    } else if (object && signals(record)) {
        if (!returns && is->n_held > 0) {
            step->operand = is->held[is->n_held - 1];
            operation = OPERATION_SIGNAL;
        }
    } else if (object && succeeded(record)) {
        operation = is_done ? taking(record, object) : OPERATION_NONE;
        if (operation == OPERATION_NONE && !returns)
            operation = giving(record, object);
    }
    step->operation = operation;
    step->amount = operation == OPERATION_PERMIT  ? (uint32_t)record->value
                   : operation == OPERATION_BOUND ? (uint32_t)(object->is_bounded * record->value)
                                                  : 0;
    if (operation == OPERATION_NONE)
        step->operand = DEPENDENCIES_NONE;
}
