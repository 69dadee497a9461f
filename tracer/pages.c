#include "tracer/pages.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

#define MOST_ORDER 20 /* of a folio, in pages: a GB and more is no folio */

static const struct {
    const char *name, *first, *last;
    enum trace_pages_kind kind;
} sources[PAGES_POINTS] = {
    {"mm_filemap_get_pages", "index", "last_index", PAGES_READ},
    {"mm_filemap_add_to_page_cache", "index", NULL, PAGES_ADDED},
    {"mm_filemap_map_pages", "index", "last_index", PAGES_MAPPED},
    {"mm_filemap_fault", "index", NULL, PAGES_MAPPED},
};

static void handle(const struct ftrace_event *event, void *context) {
    const struct pages_point *point = context;
    uint64_t first = tracepoint_value(event->data, event->bytes, point->first);
    uint64_t last = first;
    if (point->last.size > 0)
        last = tracepoint_value(event->data, event->bytes, point->last);
    uint64_t order = tracepoint_value(event->data, event->bytes, point->order);
    if (order <= MOST_ORDER)
        last += (UINT64_C(1) << order) - 1;
    if (last < first || last - first >= UINT32_MAX)
        return;
    *VECTOR_ADD(&point->pages->seen) = (struct trace_pages){
        .time_ns = event->mono_ns,
        .file = tracepoint_value(event->data, event->bytes, point->file),
        .first = first,
        .count = (uint32_t)(last - first + 1),
        .device = (uint32_t)tracepoint_value(event->data, event->bytes, point->device),
        .tid = event->tid,
        .kind = point->kind,
    };
}

static int attach_point(struct pages *pages, int i) {
    struct tracepoint tracepoint;
    int cause = tracepoint_open(&tracepoint, "filemap", sources[i].name);
    if (cause)
        return cause;
    struct pages_point *point = &pages->points[i];
    *point = (struct pages_point){.pages = pages,
                                  .kind = sources[i].kind,
                                  .device = tracepoint_field(&tracepoint, "s_dev"),
                                  .file = tracepoint_field(&tracepoint, "i_ino"),
                                  .first = tracepoint_field(&tracepoint, sources[i].first),
                                  .order = tracepoint_field(&tracepoint, "order")};
    if (sources[i].last)
        point->last = tracepoint_field(&tracepoint, sources[i].last);
    bool whole = point->device.size && point->file.size && point->first.size &&
                 (point->last.size || !sources[i].last);
    cause = whole ? ftrace_add(pages->ftrace, &tracepoint, handle, point) : ENOTSUP;
    tracepoint_close(&tracepoint);
    return cause;
}

void pages_attach(struct pages *pages, int pid) {
    pages->ftrace = ftrace_open("-pages");
    pages->cause = ftrace_follow(pages->ftrace, pid);
    for (int i = 0; i < PAGES_POINTS && !pages->cause; i++)
        pages->cause = attach_point(pages, i);
    if (pages->cause)
        pages_detach(pages);
}

void pages_drain(struct pages *pages) {
    if (pages->ftrace)
        ftrace_drain(pages->ftrace);
}

void pages_detach(struct pages *pages) {
    if (!pages->ftrace)
        return;
    pages->lost = ftrace_lost(pages->ftrace);
    ftrace_close(pages->ftrace);
    pages->ftrace = NULL;
}

static char *why_not(const struct pages *pages) {
    if (pages->cause == ENOENT)
        return memory_strdup("the kernel does not tell what is read: Linux 6.13 and later do");
    if (pages->cause)
        return memory_strdup(tracepoint_explain(pages->cause));
    if (pages->lost > 0)
        return memory_format("%llu of %zu notes of the kernel on what was read were lost",
                             (unsigned long long)pages->lost,
                             (size_t)pages->lost + pages->seen.count);
    return NULL;
}

static int compare_times(const void *left, const void *right) {
    const struct trace_pages *a = left, *b = right;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* One call may be served in steps, each of which says what is left of it; and what is read ahead
 * comes piece by piece. Is `next` a part of `last`, of the same thread, which is extended by it? A
 * touch is not: when it was tells what the thread waited for. */
static bool goes_on(struct trace_pages *last, const struct trace_pages *next) {
    if (next->kind == PAGES_MAPPED || last->kind != next->kind || last->file != next->file ||
        last->device != next->device)
        return false;
    uint64_t end = last->first + last->count, next_end = next->first + next->count;
    if (next->kind == PAGES_READ)
        return next_end == end && next->first > last->first;
    if (next->first != end || next_end - last->first > UINT32_MAX)
        return false;
    last->count += next->count;
    return true;
}

void pages_tell(struct pages *pages, struct trace *trace, uint64_t start_mono_ns) {
    trace->meta.no_pages = why_not(pages);
    trace->meta.has_pages = trace->meta.has_blocks && !trace->meta.no_pages;
    if (!trace->meta.has_pages || pages->seen.count == 0)
        return;
    struct map last_of = MAP_EMPTY; /* thread number -> 1 + its last one in the trace; 0: none */
    for (size_t t = 0; t < trace->n_threads; t++)
        map_put(&last_of, (uint64_t)trace->threads[t].tid, 0);
    VECTOR_SORT(&pages->seen, compare_times);
    trace->pages = memory_alloc(pages->seen.count, sizeof *trace->pages);
    for (size_t i = 0; i < pages->seen.count; i++) {
        struct trace_pages next = pages->seen.items[i];
        int last = map_get(&last_of, (uint64_t)next.tid, -1);
        if (last < 0 || next.time_ns < start_mono_ns ||
            (last > 0 && goes_on(&trace->pages[last - 1], &next)))
            continue;
        next.time_ns -= start_mono_ns;
        trace->pages[trace->n_pages++] = next;
        map_put(&last_of, (uint64_t)next.tid, (int)trace->n_pages);
    }
    map_free(&last_of);
}

void pages_free(struct pages *pages) {
    pages_detach(pages);
    free(pages->seen.items);
    *pages = (struct pages){0};
}
