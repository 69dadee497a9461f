#include "modelgen/events/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct view view_of(const struct trace *recorded) {
    return (struct view){.trace = *recorded, .recorded = recorded};
}

struct trace_thread *view_thread(struct view *view, size_t thread) {
    const struct trace *recorded = view->recorded;
    struct trace *shown = &view->trace;
    view->n_edits++;
    if (shown->threads == recorded->threads) {
        shown->threads = memory_alloc(recorded->n_threads, sizeof *shown->threads);
        memcpy(shown->threads, recorded->threads, recorded->n_threads * sizeof *shown->threads);
    }
    return &shown->threads[thread];
}

struct trace_record *view_record(struct view *view, size_t thread, size_t record) {
    const struct trace_thread *from = &view->recorded->threads[thread];
    struct trace_thread *to = view_thread(view, thread);
    if (to->records == from->records) {
        to->records = memory_alloc(from->n_records, sizeof *to->records);
        memcpy(to->records, from->records, from->n_records * sizeof *to->records);
    }
    return &to->records[record];
}

void view_drop(struct view *view, size_t thread, const bool *dropped) {
    size_t n_records = view->trace.threads[thread].n_records, kept = 0;
    bool any = false;
    for (size_t r = 0; r < n_records; r++)
        any |= dropped[r];
    if (!any)
        return;
    struct trace_record *records = view_record(view, thread, 0);
    for (size_t r = 0; r < n_records; r++)
        if (!dropped[r])
            records[kept++] = records[r];
    view->trace.threads[thread].n_records = kept;
}

bool **view_flags(const struct view *view) {
    const struct trace *trace = &view->trace;
    bool **flags = memory_alloc(trace->n_threads, sizeof *flags);
    for (size_t t = 0; t < trace->n_threads; t++)
        flags[t] = memory_alloc(trace->threads[t].n_records + 1, sizeof **flags);
    return flags;
}

void view_drop_all(struct view *view, bool **dropped) {
    for (size_t t = 0; t < view->trace.n_threads; t++) {
        view_drop(view, t, dropped[t]);
        free(dropped[t]);
    }
    free(dropped);
}

void view_insert(struct view *view, size_t thread, const struct view_insertion *added, size_t n) {
    if (n == 0)
        return;
    struct trace_thread *shown = view_thread(view, thread);
    struct trace_record *before = shown->records;
    struct trace_record *records = memory_alloc(shown->n_records + n, sizeof *records);
    size_t done = 0, count = 0;
    for (size_t r = 0; r < shown->n_records; r++) {
        records[count++] = before[r];
        while (done < n && added[done].after == r)
            records[count++] = added[done++].record;
    }
    if (before != view->recorded->threads[thread].records)
        free(before);
    shown->records = records;
    shown->n_records = count;
}

uint64_t view_new_object(struct view *view, enum object_origin origin) {
    return object_origins_add(&view->origins, origin);
}

void view_free(struct view *view) {
    const struct trace *recorded = view->recorded;
    object_origins_free(&view->origins);
    if (view->trace.threads == recorded->threads)
        return;
    for (size_t t = 0; t < recorded->n_threads; t++)
        if (view->trace.threads[t].records != recorded->threads[t].records)
            free(view->trace.threads[t].records);
    free(view->trace.threads);
}
