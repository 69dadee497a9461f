#include "formats/trace.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisection.h"
#include "base/memory.h"

static void free_texts(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void free_frame(struct trace_frame *frame) {
    free(frame->function);
    free(frame->file);
    free(frame->module);
}

static void free_context(struct trace_context *context, bool owns_texts) {
    for (size_t i = 0; owns_texts && i < context->n_frames; i++)
        free_frame(&context->frames[i]);
    free(context->frames);
}

static void free_meta(struct trace_meta *meta) {
    free_texts(meta->args, (size_t)meta->n_args);
    free_texts(meta->lacks, meta->n_lacks);
    free(meta->directory);
    free(meta->build_id);
    free(meta->host);
    free(meta->libc);
    free(meta->date);
    free(meta->loss);
    free(meta->elsewhere.handlers);
    for (size_t i = 0; i < meta->elsewhere.n_handlers; i++)
        free(meta->elsewhere.handler[i].function);
    free(meta->elsewhere.handler);
    free(meta->untraced);
    free(meta->one_core);
    free(meta->asks_cores);
    free(meta->no_pages);
}

void trace_free(struct trace *trace) {
    if (!trace)
        return;
    free_meta(&trace->meta);
    for (size_t i = 0; i < trace->n_contexts; i++)
        free_context(&trace->contexts[i], trace->texts == NULL);
    for (size_t i = 0; i < trace->n_threads; i++) {
        free(trace->threads[i].start_routine);
        free(trace->threads[i].records);
        free(trace->threads[i].slices);
    }
    free_texts(trace->texts, trace->n_texts);
    free(trace->contexts);
    free(trace->threads);
    free(trace->blocks);
    free(trace->pages);
    free(trace->evictions);
    for (size_t i = 0; i < trace->n_values; i++)
        free(trace->values[i].name);
    free(trace->values);
    free(trace);
}

void trace_rename_function(struct trace *trace, struct trace_frame *frame, const char *name) {
    char *copy = memory_strdup(name);
    if (trace->texts) {
        /* Its text may be that of other frames, too, and ends with the trace. */
        trace->texts = memory_resize(trace->texts, trace->n_texts + 1, sizeof *trace->texts);
        trace->texts[trace->n_texts++] = copy;
    } else {
        free(frame->function);
    }
    frame->function = copy;
}

void trace_add_lack(struct trace_meta *meta, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    meta->lacks = memory_resize(meta->lacks, meta->n_lacks + 1, sizeof *meta->lacks);
    meta->lacks[meta->n_lacks++] = memory_vformat(format, arguments);
    va_end(arguments);
}

char *trace_command_line(const struct trace_meta *meta) {
    char *line = memory_strdup("");
    for (int i = 0; i < meta->n_args; i++) {
        char *longer = memory_format("%s%s%s", line, i ? " " : "", meta->args[i]);
        free(line);
        line = longer;
    }
    return line;
}

size_t trace_thread_by_index(const struct trace *trace, int pid, int index) {
    size_t t = (size_t)index; /* where a trace of one process has it */
    if (index >= 0 && t < trace->n_threads && trace->threads[t].index == index &&
        trace->threads[t].pid == pid)
        return t;
    for (t = 0; t < trace->n_threads; t++)
        if (trace->threads[t].index == index && trace->threads[t].pid == pid)
            break;
    return t;
}

/* How many of the items, which stand in the order of that time, have it by `time_ns`. `times`: the
 * first one's; `stride`: bytes from one to the next. */
static size_t count_until(const uint64_t *times, size_t n, size_t stride, uint64_t time_ns) {
    struct bisection at = bisection_of(0, n);
    while (bisection_next(&at))
        bisection_tell(&at,
                       *(const uint64_t *)((const char *)times + at.middle * stride) <= time_ns);
    return at.low;
}

size_t trace_slices_begun(const struct trace_thread *thread, uint64_t time_ns) {
    const struct trace_slice *all = thread->slices;
    return all ? count_until(&all->on_ns, thread->n_slices, sizeof *all, time_ns) : 0;
}

size_t trace_slice_after(const struct trace_thread *thread, uint64_t time_ns) {
    const struct trace_slice *all = thread->slices;
    return all ? count_until(&all->off_ns, thread->n_slices, sizeof *all, time_ns) : 0;
}

size_t trace_records_begun(const struct trace_thread *thread, uint64_t time_ns) {
    const struct trace_record *all = thread->records;
    return all ? count_until(&all->start_ns, thread->n_records, sizeof *all, time_ns) : 0;
}

void trace_drop_frames(struct trace *trace, struct trace_context *context, size_t n) {
    for (size_t i = 0; !trace->texts && i < n; i++)
        free_frame(&context->frames[i]);
    context->n_frames -= n;
    memmove(context->frames, context->frames + n, context->n_frames * sizeof *context->frames);
}

bool trace_threads_alike(const struct trace_thread *a, const struct trace_thread *b) {
    return a == b || (a->creator >= 0 && b->creator >= 0 && a->pid == b->pid &&
                      a->creation_context == b->creation_context &&
                      strcmp(a->start_routine, b->start_routine) == 0);
}
