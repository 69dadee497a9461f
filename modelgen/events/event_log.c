#include "modelgen/events/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisection.h"
#include "base/memory.h"

struct event_log event_log_of(const struct trace *recorded) {
    struct event_log log = {.trace = *recorded, .recorded = recorded};
    size_t n_threads = recorded->n_threads;
    log.trace.threads = memory_alloc(n_threads, sizeof *log.trace.threads);
    log.first_recorded = memory_alloc(n_threads + 1, sizeof *log.first_recorded);
    log.threads = memory_alloc(n_threads, sizeof *log.threads);
    log.thread_origins = memory_alloc(n_threads, sizeof *log.thread_origins);
    for (size_t t = 0; t < n_threads; t++) {
        log.trace.threads[t] = recorded->threads[t];
        log.thread_origins[t] = (struct thread_origin){(int)t, -1};
        log.first_recorded[t] = log.threads[t].first = log.n_ids;
        log.n_ids += (event_id)recorded->threads[t].n_records;
    }
    log.first_recorded[n_threads] = log.n_ids;
    return log;
}

static void free_events(struct event_log *log, size_t thread) {
    if (log->threads[thread].owns_records)
        free(log->trace.threads[thread].records);
    if (log->threads[thread].owns_slices)
        free(log->trace.threads[thread].slices);
    free(log->threads[thread].ids);
}

static void free_threads(struct event_log *log) {
    for (size_t t = 0; t < log->trace.n_threads; t++)
        free_events(log, t);
    free(log->trace.threads);
    free(log->threads);
    free(log->thread_origins);
}

void event_log_free(struct event_log *log) {
    free_threads(log);
    if (log->recorded && log->trace.contexts != log->recorded->contexts)
        free(log->trace.contexts);
    free(log->first_recorded);
    free(log->edits.items);
    free(log->passes.items);
    object_origins_free(&log->origins);
}

void event_log_begin_pass(struct event_log *log, const char *pass) {
    *VECTOR_ADD(&log->passes) = pass;
}

/* ---- which event it is ---- */

event_id event_log_id(const struct event_log *log, size_t thread, size_t number) {
    const struct thread_events *events = &log->threads[thread];
    return events->ids ? events->ids[number] : events->first + (event_id)number;
}

const struct trace_record *event_log_recorded(const struct event_log *log, event_id event,
                                              size_t *thread) {
    size_t n_threads = log->recorded->n_threads;
    if (event >= log->first_recorded[n_threads])
        return NULL;
    struct bisection at = bisection_of(1, n_threads);
    while (bisection_next(&at))
        bisection_tell(&at, log->first_recorded[at.middle] <= event);
    if (thread)
        *thread = at.low - 1;
    return &log->recorded->threads[at.low - 1].records[event - log->first_recorded[at.low - 1]];
}

/* ---- edits ---- */

static void note_edit(struct event_log *log, event_id event, enum event_edit_kind kind) {
    size_t pass = log->passes.count > 0 ? log->passes.count - 1 : 0;
    *VECTOR_ADD(&log->edits) = (struct event_edit){event, (uint16_t)kind, (uint16_t)pass};
}

static event_id new_event(struct event_log *log) {
    note_edit(log, log->n_ids, EVENT_INSERTED);
    return log->n_ids++;
}

/* The thread's records, to be changed. */
static struct trace_record *own_records(struct event_log *log, size_t thread) {
    struct trace_thread *shown = &log->trace.threads[thread];
    if (!log->threads[thread].owns_records) {
        struct trace_record *records = memory_alloc(shown->n_records, sizeof *records);
        if (shown->n_records)
            memcpy(records, shown->records, shown->n_records * sizeof *records);
        shown->records = records;
        log->threads[thread].owns_records = true;
    }
    return shown->records;
}

/* One id for each of the thread's events, to be changed. */
static event_id *own_ids(struct event_log *log, size_t thread) {
    struct thread_events *events = &log->threads[thread];
    if (!events->ids) {
        size_t n = log->trace.threads[thread].n_records;
        events->ids = memory_alloc(n, sizeof *events->ids);
        for (size_t r = 0; r < n; r++)
            events->ids[r] = events->first + (event_id)r;
    }
    return events->ids;
}

struct trace_thread *event_log_thread(struct event_log *log, size_t thread) {
    log->n_thread_edits++;
    return &log->trace.threads[thread];
}

struct trace_record *event_log_change(struct event_log *log, size_t thread, size_t number) {
    note_edit(log, event_log_id(log, thread, number), EVENT_CHANGED);
    return &own_records(log, thread)[number];
}

void event_log_drop(struct event_log *log, size_t thread, const bool *dropped) {
    size_t n_records = log->trace.threads[thread].n_records, kept = 0;
    bool any = false;
    for (size_t r = 0; r < n_records; r++)
        any |= dropped[r];
    if (!any)
        return;
    struct trace_record *records = own_records(log, thread);
    event_id *ids = own_ids(log, thread);
    for (size_t r = 0; r < n_records; r++) {
        if (dropped[r]) {
            note_edit(log, ids[r], EVENT_DROPPED);
            continue;
        }
        records[kept] = records[r];
        ids[kept++] = ids[r];
    }
    log->trace.threads[thread].n_records = kept;
}

bool **event_log_flags(const struct event_log *log) {
    const struct trace *trace = &log->trace;
    bool **flags = memory_alloc(trace->n_threads, sizeof *flags);
    for (size_t t = 0; t < trace->n_threads; t++)
        flags[t] = memory_alloc(trace->threads[t].n_records + 1, sizeof **flags);
    return flags;
}

void event_log_drop_all(struct event_log *log, bool **dropped) {
    for (size_t t = 0; t < log->trace.n_threads; t++) {
        event_log_drop(log, t, dropped[t]);
        free(dropped[t]);
    }
    free(dropped);
}

void event_log_insert(struct event_log *log, size_t thread, const struct event_insertion *added,
                      size_t n) {
    if (n == 0)
        return;
    struct trace_thread *shown = &log->trace.threads[thread];
    size_t n_before = shown->n_records, done = 0, count = 0;
    struct trace_record *records = memory_alloc(n_before + n, sizeof *records);
    event_id *ids = memory_alloc(n_before + n, sizeof *ids);
    for (; done < n && added[done].after == EVENT_LOG_BEGIN; done++) {
        ids[count] = new_event(log);
        records[count++] = added[done].record;
    }
    for (size_t r = 0; r < n_before; r++) {
        ids[count] = event_log_id(log, thread, r);
        records[count++] = shown->records[r];
        for (; done < n && added[done].after == r; done++) {
            ids[count] = new_event(log);
            records[count++] = added[done].record;
        }
    }
    if (log->threads[thread].owns_records)
        free(shown->records);
    free(log->threads[thread].ids);
    log->threads[thread].ids = ids;
    log->threads[thread].owns_records = true;
    shown->records = records;
    shown->n_records = count;
}

uint64_t event_log_new_object(struct event_log *log, enum object_origin origin) {
    return object_origins_add(&log->origins, origin);
}

void event_log_set_contexts(struct event_log *log, struct trace_context *contexts) {
    if (log->trace.contexts != log->recorded->contexts)
        free(log->trace.contexts);
    log->trace.contexts = contexts;
}

void event_log_add_context(struct event_log *log, struct trace_context context) {
    size_t n = log->trace.n_contexts;
    struct trace_context *contexts = memory_alloc(n + 1, sizeof *contexts);
    if (n > 0)
        memcpy(contexts, log->trace.contexts, n * sizeof *contexts);
    contexts[n] = context;
    event_log_set_contexts(log, contexts);
    log->trace.n_contexts = n + 1;
}

/* ---- threads made of parts of others ---- */

static void append(struct event_list *list, event_id event, const struct trace_record *record) {
    size_t capacity = list->capacity;
    list->records = memory_grow(list->records, list->count, &list->capacity, sizeof *list->records);
    if (list->capacity != capacity)
        list->ids = memory_resize(list->ids, list->capacity, sizeof *list->ids);
    list->records[list->count] = *record;
    list->ids[list->count++] = event;
}

void event_list_keep(struct event_list *list, struct event_log *log, size_t thread, size_t number,
                     const struct trace_record *as) {
    event_id event = event_log_id(log, thread, number);
    if (memcmp(as, &log->trace.threads[thread].records[number], sizeof *as) != 0)
        note_edit(log, event, EVENT_CHANGED);
    append(list, event, as);
}

void event_list_insert(struct event_list *list, struct event_log *log, struct trace_record record) {
    append(list, new_event(log), &record);
}

static void take_over(struct event_log *log, size_t thread, const struct made_thread *made) {
    size_t n = made->events.count;
    log->trace.threads[thread] = made->thread;
    log->trace.threads[thread].records =
        memory_resize(made->events.records, n, sizeof *made->events.records);
    log->trace.threads[thread].n_records = n;
    log->threads[thread] =
        (struct thread_events){.ids = memory_resize(made->events.ids, n, sizeof *made->events.ids),
                               .owns_records = true,
                               .owns_slices = true};
    log->thread_origins[thread] = made->origin;
    log->n_thread_edits++;
}

static void make_room(struct event_log *log, size_t n_threads) {
    log->trace.threads = memory_resize(log->trace.threads, n_threads, sizeof *log->trace.threads);
    log->threads = memory_resize(log->threads, n_threads, sizeof *log->threads);
    log->thread_origins =
        memory_resize(log->thread_origins, n_threads, sizeof *log->thread_origins);
    log->trace.n_threads = n_threads;
}

size_t event_log_add_thread(struct event_log *log, const struct made_thread *made) {
    size_t thread = log->trace.n_threads;
    make_room(log, thread + 1);
    take_over(log, thread, made);
    return thread;
}

void event_log_remake_thread(struct event_log *log, size_t thread, const struct made_thread *made) {
    free_events(log, thread);
    take_over(log, thread, made);
}

void event_log_replace_threads(struct event_log *log, const struct made_thread *made, size_t n) {
    for (size_t t = 0; t < log->trace.n_threads; t++)
        free_events(log, t);
    make_room(log, n);
    for (size_t t = 0; t < n; t++)
        take_over(log, t, &made[t]);
}

void event_log_settle(struct event_log *log) {
    bool *is_told = memory_alloc((size_t)log->n_ids + 1, sizeof *is_told);
    for (size_t t = 0; t < log->trace.n_threads; t++)
        for (size_t r = 0; r < log->trace.threads[t].n_records; r++)
            is_told[event_log_id(log, t, r)] = true;
    for (size_t i = 0; i < log->edits.count; i++)
        if (log->edits.items[i].kind == EVENT_DROPPED)
            is_told[log->edits.items[i].event] = true;
    for (event_id event = 0; event < log->n_ids; event++)
        if (!is_told[event])
            note_edit(log, event, EVENT_DROPPED);
    free(is_told);
}
