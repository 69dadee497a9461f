#include "tracer/task_marks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "formats/user_catalog.h"

struct marks {
    struct trace_record *items;
    size_t count, capacity;
};

static void mark(struct marks *marks, const struct trace_record *call, enum api api,
                 uint64_t time_ns) {
    struct trace_record *added = VECTOR_ADD(marks);
    *added = *call;
    added->api = api;
    added->start_ns = time_ns;
    added->duration_ns = 0;
    added->flags = 0;
}

/* In any order. */
static struct marks find_marks(const struct trace_thread *thread) {
    struct marks marks = {0};
    uint64_t until_ns[API_COUNT] = {0}; /* of each role, the end of its outermost call */
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *call = &thread->records[r];
        if (!user_role_marks_tasks((enum api)call->api) || call->start_ns < until_ns[call->api])
            continue;
        bool returned = !(call->flags & TRACE_UNFINISHED);
        until_ns[call->api] = returned ? trace_end_ns(call) : UINT64_MAX;
        if (call->api != ROLE_task_until)
            mark(&marks, call, ROLE_task_from, call->start_ns);
        if (call->api != ROLE_task_from && returned)
            mark(&marks, call, ROLE_task_until, trace_end_ns(call));
    }
    return marks;
}

static int compare_marks(const void *left, const void *right) {
    const struct trace_record *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->api == ROLE_task_from) - (b->api == ROLE_task_from); /* the next one's begin */
}

void task_marks_place(struct trace_thread *thread) {
    struct marks marks = find_marks(thread);
    if (marks.count == 0)
        return;
    VECTOR_SORT(&marks, compare_marks);
    struct trace_record *all = memory_alloc(thread->n_records + marks.count, sizeof *all);
    size_t n = 0, next = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        for (; next < marks.count && marks.items[next].start_ns <= thread->records[r].start_ns;
             next++)
            all[n++] = marks.items[next];
        if (!user_role_marks_tasks((enum api)thread->records[r].api))
            all[n++] = thread->records[r];
    }
    while (next < marks.count)
        all[n++] = marks.items[next++];
    free(marks.items);
    free(thread->records);
    thread->records = all;
    thread->n_records = n;
}

static bool has_mark(const struct trace *trace, enum api mark) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (trace->threads[t].records[r].api == mark)
                return true;
    return false;
}

void task_marks_tell(const struct trace *trace, const struct wraps *wraps, struct lacks *lacks) {
    for (size_t i = 0; i < wraps->count; i++) {
        const struct raw_wrap *wrap = &wraps->items[i].raw;
        if (!user_role_marks_tasks((enum api)wrap->api))
            continue;
        if (!has_mark(trace, wrap->api == ROLE_task_until ? ROLE_task_until : ROLE_task_from))
            lacks_add(lacks, "tasks: no call of %s was seen%s", wrap->name,
                      wrap->api == ROLE_task_until ? " to return" : "");
    }
}
