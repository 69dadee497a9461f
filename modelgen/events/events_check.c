#include "modelgen/events/events_check.h"

#include <stdlib.h>

#include "base/memory.h"

/* What is known of an event. */
enum { IS_SHOWN = 1, IS_DROPPED = 2, IS_INSERTED = 4 };

static const char *pass_of(const struct event_log *log, const struct event_edit *edit) {
    return edit->pass < log->passes.count ? log->passes.items[edit->pass] : NULL;
}

/* Reads the edits into what is known of each event. */
static int check_edits(const struct event_log *log, unsigned char *known, struct error *error) {
    for (size_t i = 0; i < log->edits.count; i++) {
        const struct event_edit *edit = &log->edits.items[i];
        const char *pass = pass_of(log, edit);
        if (!pass || !*pass)
            return error_set(error, "edit %zu names no pass", i);
        if (edit->event >= log->n_ids)
            return error_set(error, "%s edits event %u, of %u", pass, edit->event, log->n_ids);
        unsigned char *event = &known[edit->event];
        bool was_recorded = edit->event < log->first_recorded[log->recorded->n_threads];
        if (*event & IS_DROPPED)
            return error_set(error, "%s edits event %u, which was dropped", pass, edit->event);
        if (edit->kind == EVENT_INSERTED && (was_recorded || *event & IS_INSERTED))
            return error_set(error, "%s inserts event %u, which was there", pass, edit->event);
        if (edit->kind != EVENT_INSERTED && !was_recorded && !(*event & IS_INSERTED))
            return error_set(error, "%s edits event %u before it was inserted", pass, edit->event);
        *event |= edit->kind == EVENT_DROPPED ? IS_DROPPED : 0;
        *event |= edit->kind == EVENT_INSERTED ? IS_INSERTED : 0;
    }
    return 0;
}

static int check_event(const struct event_log *log, size_t thread, event_id event,
                       unsigned char *known, struct error *error) {
    if (event >= log->n_ids)
        return error_set(error, "thread %zu has event %u, of %u", thread, event, log->n_ids);
    if (known[event] & IS_SHOWN)
        return error_set(error, "event %u is shown twice, the second time in thread %zu", event,
                         thread);
    if (known[event] & IS_DROPPED)
        return error_set(error, "thread %zu shows event %u, which was dropped", thread, event);
    known[event] |= IS_SHOWN;
    return 0;
}

/* Events that were recorded are in the order of their times. Inserted ones stand where their pass
 * wants them, in the thread's life: OpenMP's guided loops are divided by CPU time, but no piece is
 * taken in the midst of a critical section. */
static int check_time(const struct event_log *log, size_t thread, size_t number, uint64_t *last_ns,
                      struct error *error) {
    const struct trace_thread *of = &log->trace.threads[thread];
    uint64_t start_ns = of->records[number].start_ns;
    event_id event = event_log_id(log, thread, number);
    if (!event_log_recorded(log, event, NULL))
        return start_ns >= of->start_ns && start_ns <= of->end_ns
                   ? 0
                   : error_set(error, "event %u was inserted outside of the life of thread %zu",
                               event, thread);
    if (start_ns < *last_ns)
        return error_set(error, "in thread %zu event %u begins before one in front of it", thread,
                         event);
    *last_ns = start_ns;
    return 0;
}

static int check_call_site(const struct event_log *log, size_t thread, size_t number,
                           struct error *error) {
    uint32_t context = log->trace.threads[thread].records[number].context;
    if (context == TRACE_NO_CONTEXT || context < log->trace.n_contexts)
        return 0;
    return error_set(error, "event %u is called from %u, of %zu call sites",
                     event_log_id(log, thread, number), context, log->trace.n_contexts);
}

static int check_thread(const struct event_log *log, size_t thread, unsigned char *known,
                        struct error *error) {
    uint64_t last_ns = 0;
    for (size_t r = 0; r < log->trace.threads[thread].n_records; r++)
        if (check_event(log, thread, event_log_id(log, thread, r), known, error) < 0 ||
            check_time(log, thread, r, &last_ns, error) < 0 ||
            check_call_site(log, thread, r, error) < 0)
            return -1;
    return 0;
}

static int check_events(const struct event_log *log, unsigned char *known, struct error *error) {
    for (size_t t = 0; t < log->trace.n_threads; t++)
        if (check_thread(log, t, known, error) < 0)
            return -1;
    event_id n_recorded = log->first_recorded[log->recorded->n_threads];
    for (event_id event = 0; event < log->n_ids; event++) {
        if (!(known[event] & (IS_SHOWN | IS_DROPPED)))
            return error_set(error, "event %u is gone, and no pass has dropped it", event);
        if (event >= n_recorded && !(known[event] & IS_INSERTED))
            return error_set(error, "event %u was neither recorded nor inserted", event);
    }
    return 0;
}

int events_check(const struct event_log *log, struct error *error) {
    unsigned char *known = memory_alloc((size_t)log->n_ids + 1, sizeof *known);
    int status = check_edits(log, known, error);
    if (status == 0)
        status = check_events(log, known, error);
    free(known);
    return status;
}
