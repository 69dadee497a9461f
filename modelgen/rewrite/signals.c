#include "modelgen/rewrite/signals.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/scheduling_events.h"
#include "modelgen/events/thread_states.h"

/* A signal that was there already ends the wait at once: in less than this. */
#define PENDING_NS 50000
/* Who sends a signal wakes who waits for it in the same system call: in less than this. */
#define PROMPT_NS 5000000
/* Sends that are looked at for one wait, back from its end. */
#define MOST_SENDS 1000
#define NO_SEND    SIZE_MAX

/* A call that sends a signal to its own process, or that waits for one. */
struct call {
    uint64_t time_ns; /* of the sending; of a wait's end */
    size_t thread, record;
    int target; /* of a send: index of the thread, ANY_THREAD of the process */
    bool used;  /* it has ended a wait */
};

#define ANY_THREAD (-1)
#define NO_THREAD  (-2) /* another process, or a thread that is not known */

struct calls {
    struct call *items;
    size_t count, capacity;
};

static int compare_calls(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

bool signals_are_awaited(const struct trace_record *record) {
    switch (record->api) {
    case API_pause:
    case API_sigwait:
    case API_sigwaitinfo:
    case API_sigsuspend:
        return true;
    case API_sigtimedwait:
        return !(record->flags & TRACE_FAILED); /* else its time was over */
    default:
        return false;
    }
}

static bool is_wait(const struct trace_record *record) {
    return signals_are_awaited(record) && !(record->flags & TRACE_UNFINISHED);
}

static int target_of(const struct trace_thread *sender, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    if (info->object == ON_THREAD)
        return record->value >= 0 ? record->value : NO_THREAD;
    struct trace_record group = {.object = -(uint64_t)sender->pid}; /* in as many bits */
    bool own = record->object == (uint64_t)sender->pid || record->object == 0 ||
               record->object == group.object;
    return own ? ANY_THREAD : NO_THREAD;
}

static void find_calls(const struct trace *trace, struct calls *sends, struct calls *waits) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (is_wait(record))
                *VECTOR_ADD(waits) =
                    (struct call){.time_ns = trace_end_ns(record), .thread = t, .record = r};
            if (trace_op(record) != OP_NOTIFY)
                continue;
            int target = target_of(&trace->threads[t], record);
            if (target != NO_THREAD)
                *VECTOR_ADD(sends) = (struct call){
                    .time_ns = record->start_ns, .thread = t, .record = r, .target = target};
        }
    if (sends->count)
        qsort(sends->items, sends->count, sizeof *sends->items, compare_calls);
    if (waits->count)
        qsort(waits->items, waits->count, sizeof *waits->items, compare_calls);
}

static bool may_end(const struct trace *trace, const struct call *send, const struct call *wait) {
    const struct trace_thread *waiter = &trace->threads[wait->thread];
    return !send->used && send->thread != wait->thread &&
           trace->threads[send->thread].pid == waiter->pid &&
           (send->target == ANY_THREAD || send->target == waiter->index);
}

/* The send that ended the wait; `before`: number of sends made until its end. It is the last one
 * before the thread was woken, or, where that is not known, before it went on. */
static size_t find_send(const struct trace *trace, const struct calls *sends, size_t before,
                        const struct call *wait) {
    const struct trace_thread *waiter = &trace->threads[wait->thread];
    const struct trace_record *record = &waiter->records[wait->record];
    uint64_t woken_ns = thread_states_woken(waiter, record->start_ns, wait->time_ns);
    uint64_t last_ns = woken_ns ? woken_ns + SCHEDULING_CLOCKS_NS : wait->time_ns;
    uint64_t first_ns = record->start_ns;
    if (record->duration_ns < PENDING_NS)
        first_ns = 0;
    else if (woken_ns > PROMPT_NS && woken_ns - PROMPT_NS > first_ns)
        first_ns = woken_ns - PROMPT_NS;
    for (size_t s = before; s > 0 && s + MOST_SENDS > before; s--) {
        const struct call *send = &sends->items[s - 1];
        if (send->time_ns < first_ns)
            break;
        if (send->time_ns <= last_ns && may_end(trace, send, wait))
            return s - 1;
    }
    return NO_SEND;
}

/* Each thread of a pool waits for a signal of its own, but which one is sent to whom a model of
 * them all cannot tell. `objects`: per thread, of those created like it; 0: none yet. */
static uint64_t object_of(struct event_log *log, size_t thread, uint64_t *objects) {
    const struct trace_thread *threads = log->recorded->threads;
    size_t first = 0;
    while (!trace_threads_alike(&threads[first], &threads[thread]))
        first++;
    if (!objects[first])
        objects[first] = event_log_new_object(log, ORIGIN_SIGNAL);
    return objects[first];
}

static void show_as(struct event_log *log, const struct call *call, enum api role,
                    uint64_t object) {
    struct trace_record *record = event_log_change(log, call->thread, call->record);
    record->api = role;
    record->object = object;
    record->value = 0;
    record->flags &= ~(unsigned)TRACE_FAILED; /* an interrupted call says that it has failed */
}

void signals_as_permits(struct event_log *log) {
    struct calls sends = {0}, waits = {0};
    find_calls(&log->trace, &sends, &waits);
    uint64_t *objects = memory_alloc(log->recorded->n_threads, sizeof *objects);
    size_t before = 0;
    for (size_t w = 0; w < waits.count && sends.count; w++) {
        const struct call *wait = &waits.items[w];
        while (before < sends.count && sends.items[before].time_ns <= wait->time_ns)
            before++;
        size_t s = find_send(&log->trace, &sends, before, wait);
        if (s == NO_SEND)
            continue;
        sends.items[s].used = true;
        uint64_t object = object_of(log, wait->thread, objects);
        show_as(log, &sends.items[s], ROLE_release, object);
        show_as(log, wait, ROLE_acquire, object);
    }
    free(objects);
    free(sends.items);
    free(waits.items);
}
