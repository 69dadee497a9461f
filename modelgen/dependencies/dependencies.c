#include "modelgen/dependencies/dependencies.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/dependencies/call_effects.h"
#include "modelgen/dependencies/names.h"
#include "modelgen/dependencies/pool_steps.h"
#include "modelgen/dependencies/run_state.h"
#include "modelgen/dependencies/wait_cause.h"

/* ---- whose moment comes next ---- */

/* A heap of threads, the one with the earliest moment first. */
struct queue {
    uint32_t *threads;
    size_t count;
};

static bool is_before(const struct run_state *run, uint32_t a, uint32_t b) {
    const struct thread_moments *x = &run->threads[a].at, *y = &run->threads[b].at;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns;
    return x->kind != y->kind ? x->kind < y->kind : a < b;
}

static void sink(const struct run_state *run, struct queue *queue, size_t at) {
    for (size_t child; (child = 2 * at + 1) < queue->count; at = child) {
        if (child + 1 < queue->count &&
            is_before(run, queue->threads[child + 1], queue->threads[child]))
            child++;
        if (!is_before(run, queue->threads[child], queue->threads[at]))
            return;
        uint32_t moved = queue->threads[at];
        queue->threads[at] = queue->threads[child];
        queue->threads[child] = moved;
    }
}

static struct queue queue_of(const struct run_state *run) {
    struct queue queue = {.count = run->trace->n_threads};
    queue.threads = memory_alloc(queue.count, sizeof *queue.threads);
    for (size_t t = 0; t < queue.count; t++)
        queue.threads[t] = (uint32_t)t;
    for (size_t i = queue.count / 2; i > 0; i--)
        sink(run, &queue, i - 1);
    return queue;
}

/* ---- the beginning of a thread ---- */

/* Its creator, if that is still in front of it. */
static void begin(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    int creator = run->trace->threads[thread].creator;
    run->threads[thread].has_begun = true;
    uint32_t cause =
        creator >= 0 ? run_state_cut(run, (uint32_t)creator, now_ns) : DEPENDENCIES_NONE;
    if (cause == DEPENDENCIES_NONE)
        return;
    struct dependency_step step = run_state_step(run, thread, STEP_BLOCKED);
    step.cause = cause;
    step.cause_kind = LINK_CREATE;
    step_log_end(&run->log, step, now_ns);
}

/* ---- cores ---- */

static struct giver *core_of(struct run_state *run, uint32_t cpu) {
    if (cpu >= run->n_cores) {
        size_t wanted = cpu + 1;
        run->cores = memory_resize(run->cores, wanted, sizeof *run->cores);
        for (; run->n_cores < wanted; run->n_cores++)
            run->cores[run->n_cores] = NO_GIVER;
    }
    return &run->cores[cpu];
}

enum { MOST_CORES = 1 << 16 }; /* what a trace says besides is not to be believed */

static void leave_core(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    uint32_t step = run_state_cut(run, thread, now_ns);
    const struct thread_moments *at = &run->threads[thread].at;
    uint32_t cpu = at->thread->slices[at->slice].cpu;
    if (cpu < MOST_CORES)
        *core_of(run, cpu) = (struct giver){thread, step, now_ns};
}

/* Who had the core since the thread was ready kept it waiting. */
static void get_core(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    const struct thread_moments *at = &run->threads[thread].at;
    const struct trace_slice *slice = &at->thread->slices[at->slice];
    struct dependency_step step = run_state_step(run, thread, STEP_READY);
    if (at->state == THREAD_BLOCKED)
        step = wait_cause_find(run, thread, slice, now_ns);
    else if (slice->cpu < MOST_CORES) {
        const struct giver *before = core_of(run, slice->cpu);
        if (before->step != DEPENDENCIES_NONE && before->thread != thread &&
            before->time_ns >= step_log_now(&run->log, thread)) {
            step.cause = before->step;
            step.cause_kind = LINK_CORE;
        }
    }
    step_log_end(&run->log, step, now_ns);
}

/* ---- calls ---- */

static enum step_kind kind_of_state(enum thread_state state) {
    return state == THREAD_ON_CORE ? STEP_COMPUTE
           : state == THREAD_READY ? STEP_READY
                                   : STEP_UNEXPLAINED;
}

/* The thread is back from the call that it is in. */
static void finish_call(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    pool_steps_add(run, thread, true, now_ns);
    task_moments_reach(&run->tasks, thread, run->threads[thread].at.record,
                       step_log_last(&run->log, thread));
}

/* What lay before the call. */
static void make_call(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    struct thread_run *is = &run->threads[thread];
    const struct trace_record *record = &is->at.thread->records[is->at.record];
    struct dependency_step step = run_state_step(run, thread, kind_of_state(is->at.state));
    is->object = sync_states_index(&run->sync, record);
    call_effects_begin(run, thread, record, is->object);
    call_effects_tell(run, thread, record, false, &step);
    bool is_done = record->duration_ns == 0;
    if (is_done && trace_op(record) != OP_BARRIER) {
        struct limit limit = call_effects_take(run, thread, record, is->object);
        step.limit = limit.step;
        step.limit_kind = (uint8_t)limit.link;
    }
    uint32_t ended = step_log_end(&run->log, step, now_ns);
    call_effects_give(run, thread, record, is->object, ended);
    pool_steps_add(run, thread, false, now_ns);
    if (is_done)
        finish_call(run, thread, now_ns);
}

/* Is it certain that the thread waited in the call until now? */
static bool has_waited(const struct run_state *run, const struct thread_run *is,
                       const struct trace_record *record) {
    bool spun = record->flags & TRACE_SPINS && record->flags & TRACE_WAITED &&
                is->at.state == THREAD_ON_CORE;
    return spun || (is->at.thread->n_slices == 0 && wait_cause_may_block(record)) ||
           (run->trace->meta.has_slices && is->at.state == THREAD_BLOCKED);
}

static void return_from_call(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    struct thread_run *is = &run->threads[thread];
    const struct trace_record *record = &is->at.thread->records[is->at.record];
    struct dependency_step step = has_waited(run, is, record)
                                      ? wait_cause_find(run, thread, NULL, now_ns)
                                      : run_state_step(run, thread, kind_of_state(is->at.state));
    struct limit limit = call_effects_take(run, thread, record, is->object);
    call_effects_tell(run, thread, record, true, &step);
    step.limit = limit.step == step.cause ? DEPENDENCIES_NONE : limit.step;
    step.limit_kind = (uint8_t)(step.limit == DEPENDENCIES_NONE ? LINK_NONE : limit.link);
    step_log_end(&run->log, step, now_ns);
    finish_call(run, thread, now_ns);
}

/* ---- the run ---- */

static void end_thread(struct run_state *run, uint32_t thread, uint64_t now_ns) {
    const struct thread_run *is = &run->threads[thread];
    struct dependency_step step = run_state_step(run, thread, kind_of_state(is->at.state));
    step_log_end(&run->log, step, now_ns);
}

static void happen(struct run_state *run, uint32_t thread) {
    const struct thread_moments *at = &run->threads[thread].at;
    uint64_t now_ns = at->time_ns;
    switch (at->kind) {
    case MOMENT_BORN:
        begin(run, thread, now_ns);
        break;
    case MOMENT_OFF:
        leave_core(run, thread, now_ns);
        break;
    case MOMENT_WOKEN:
        step_log_end(&run->log,
                     wait_cause_find(run, thread, &at->thread->slices[at->slice], now_ns), now_ns);
        break;
    case MOMENT_ON:
        get_core(run, thread, now_ns);
        break;
    case MOMENT_CALL:
        make_call(run, thread, now_ns);
        break;
    case MOMENT_RETURN:
        return_from_call(run, thread, now_ns);
        break;
    default:
        end_thread(run, thread, now_ns);
        break;
    }
}

static void run_through(struct run_state *run) {
    struct queue queue = queue_of(run);
    while (queue.count > 0) {
        uint32_t thread = queue.threads[0];
        struct thread_run *is = &run->threads[thread];
        happen(run, thread);
        thread_moments_pass(&is->at);
        if (is->at.kind == MOMENT_NEVER)
            queue.threads[0] = queue.threads[--queue.count];
        sink(run, &queue, 0);
    }
    free(queue.threads);
}

static struct run_state start(const struct trace *trace, const struct token_uses *uses) {
    struct run_state run = {.trace = trace,
                            .uses = uses,
                            .devices = device_waits_of(trace),
                            .tasks = task_moments_of(trace),
                            .sender = NO_GIVER};
    for (size_t p = 0; uses && p < uses->pools.count; p++)
        sync_states_pool(&run.sync, &uses->pools.items[p]);
    run.threads = memory_alloc(trace->n_threads, sizeof *run.threads);
    for (size_t t = 0; t < trace->n_threads; t++) {
        run.threads[t] = (struct thread_run){.at = thread_moments_of(&trace->threads[t]),
                                             .mutex = DEPENDENCIES_NONE,
                                             .object = DEPENDENCIES_NONE};
        step_log_thread(&run.log, memory_strdup(trace->threads[t].start_routine),
                        thread_moments_begin(&trace->threads[t]), false);
    }
    return run;
}

struct dependencies *dependencies_of_trace(const struct trace *trace, const struct facts *facts,
                                           const struct token_uses *uses) {
    struct run_state run = start(trace, uses);
    run_through(&run);
    struct dependencies *all = memory_alloc(1, sizeof *all);
    *all = (struct dependencies){.start_real_ns = trace->meta.start_real_ns,
                                 .records = trace->meta.records,
                                 .run_ns = trace->meta.run_ns,
                                 .cores = trace->meta.cores,
                                 .has_cores = trace->meta.has_slices,
                                 .has_wakers = trace->meta.has_wakers,
                                 .has_operations = true,
                                 .tick_ns = trace->meta.tick_ns,
                                 .lost = trace->meta.lost_records + trace->meta.lost_events,
                                 .n_steps = run.log.steps.count,
                                 .steps = run.log.steps.items,
                                 .n_threads = run.log.threads.count,
                                 .threads = run.log.threads.items};
    names_fill(all, trace, facts, &run.sync);
    task_moments_finish(&run.tasks, all);
    sync_states_free(&run.sync);
    device_waits_free(&run.devices);
    free(run.log.last);
    free(run.threads);
    free(run.cores);
    return all;
}
