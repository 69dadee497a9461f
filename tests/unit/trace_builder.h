/* Writes traces by hand for tests: threads, call sites, critical sections, at chosen times. */
#ifndef PERSIK_TESTS_TRACE_BUILDER_H
#define PERSIK_TESTS_TRACE_BUILDER_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/modelgen.h"

enum { BUILDER_THREADS = 8, BUILDER_CONTEXTS = 64, BUILDER_RECORDS = 4096 };

static inline struct trace *builder_new(int cores) {
    struct trace *trace = memory_alloc(1, sizeof *trace);
    trace->meta.version = TRACE_VERSION;
    trace->meta.cores = cores;
    trace->meta.complete = true;
    trace->meta.has_slices = true;
    trace->contexts = memory_alloc(BUILDER_CONTEXTS, sizeof *trace->contexts);
    trace->threads = memory_alloc(BUILDER_THREADS, sizeof *trace->threads);
    return trace;
}

/* The context of a call on `line` of `function`, called by `root` (line `root_line`). */
static inline uint32_t builder_context(struct trace *trace, const char *function, int line,
                                       const char *root, int root_line) {
    for (size_t c = 0; c < trace->n_contexts; c++)
        if (trace->contexts[c].frames[0].line == line &&
            trace->contexts[c].frames[1].line == root_line &&
            strcmp(trace->contexts[c].frames[0].function, function) == 0)
            return (uint32_t)c;
    struct trace_context *context = &trace->contexts[trace->n_contexts];
    context->n_frames = 2;
    context->frames = memory_alloc(2, sizeof *context->frames);
    context->frames[0] = (struct trace_frame){
        memory_strdup(function), memory_strdup("t.c"), line, 1, memory_strdup("t"), (uint64_t)line};
    context->frames[1] =
        (struct trace_frame){memory_strdup(root), memory_strdup("t.c"), root_line, 1,
                             memory_strdup("t"),  (uint64_t)root_line};
    return (uint32_t)trace->n_contexts++;
}

static inline int builder_thread(struct trace *trace, const char *start_routine, int creator) {
    int index = (int)trace->n_threads++;
    struct trace_thread *thread = &trace->threads[index];
    *thread = (struct trace_thread){.pid = 1,
                                    .tid = 1 + index,
                                    .index = index,
                                    .creator = creator,
                                    .start_routine = memory_strdup(start_routine),
                                    .creation_context = TRACE_NO_CONTEXT,
                                    .end_seen = true};
    thread->records = memory_alloc(BUILDER_RECORDS, sizeof *thread->records);
    thread->slices = memory_alloc(BUILDER_RECORDS, sizeof *thread->slices);
    if (creator >= 0)
        thread->creation_context = builder_context(trace, "main", 900, "main", 900);
    return index;
}

static inline void builder_record(struct trace *trace, int thread, const char *api,
                                  uint64_t start_ns, uint64_t duration_ns, uint64_t object,
                                  uint32_t context, int value) {
    struct trace_thread *to = &trace->threads[thread];
    to->records[to->n_records++] = (struct trace_record){.start_ns = start_ns,
                                                         .duration_ns = duration_ns,
                                                         .api = (uint64_t)api_find(api) & 0xffff,
                                                         .object = object,
                                                         .flags = duration_ns ? TRACE_WAITED : 0,
                                                         .context = context,
                                                         .value = value};
}

/* A critical section of `function`, which begins on `line`, that tells a condition by `api` (0:
 * none) before it waits for another one (0: not at all) until `woken_ns`. */
static inline void builder_section(struct trace *trace, int thread, const char *function, int line,
                                   uint64_t mutex, uint64_t start_ns, const char *api,
                                   uint64_t told, uint64_t awaited, uint64_t woken_ns) {
    uint32_t context = builder_context(trace, function, line, "thread", 100);
    uint32_t inside = builder_context(trace, function, line + 2, "thread", 100);
    builder_record(trace, thread, "pthread_mutex_lock", start_ns, 0, mutex, context, 0);
    if (told)
        builder_record(trace, thread, api, start_ns + 1, 0, told, inside, 0);
    if (awaited)
        builder_record(trace, thread, "pthread_cond_wait", start_ns + 2, woken_ns - start_ns - 2,
                       awaited, inside, 0);
    builder_record(trace, thread, "pthread_mutex_unlock", awaited ? woken_ns + 1 : start_ns + 3, 0,
                   mutex, inside, 0);
}

/* The thread ran on a core throughout [on, off). */
static inline void builder_slice(struct trace *trace, int thread, uint64_t on_ns, uint64_t off_ns) {
    struct trace_thread *to = &trace->threads[thread];
    to->slices[to->n_slices++] = (struct trace_slice){0, on_ns, off_ns, 0, 0};
}

/* The same on core `cpu`, woken at `wake_ns` (0: not told), and at the end preempted or not. */
static inline void builder_run(struct trace *trace, int thread, uint32_t cpu, uint64_t wake_ns,
                               uint64_t on_ns, uint64_t off_ns, bool preempted) {
    struct trace_thread *to = &trace->threads[thread];
    to->slices[to->n_slices++] = (struct trace_slice){wake_ns, on_ns, off_ns, cpu, preempted};
}

/* Sets every thread's life and the run to [0, end). */
static inline void builder_finish(struct trace *trace, uint64_t end_ns) {
    trace->meta.run_ns = end_ns;
    for (size_t t = 0; t < trace->n_threads; t++)
        trace->threads[t].end_ns = end_ns;
}

/* The trace's model, which must be without fault. Frees the trace; `facts` may be NULL. */
static inline struct model *builder_model(struct trace *trace, const struct facts *facts) {
    struct error error = {0};
    struct model *model = modelgen_build(trace, facts, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    trace_free(trace);
    return model;
}

/* What the source says of a queue without limit: where it is put into and taken from. */
struct builder_queue {
    struct facts_operation operations[2];
    struct facts_monitor monitor;
    char *file;
    struct facts facts; /* points into this struct; nothing to free */
};

static inline const struct facts *builder_queue_facts(struct builder_queue *queue, char *put,
                                                      int put_line, char *get, int get_line) {
    queue->file = "t.c";
    queue->operations[0] = (struct facts_operation){
        FACTS_PUT, {.function = put, .file = queue->file, .line = put_line}};
    queue->operations[1] = (struct facts_operation){
        FACTS_GET, {.function = get, .file = queue->file, .line = get_line}};
    queue->monitor = (struct facts_monitor){.kind = MONITOR_UNBOUNDED_QUEUE,
                                            .name = "struct queue",
                                            .mutex = "struct queue.mutex",
                                            .n_operations = 2,
                                            .operations = queue->operations};
    queue->facts = (struct facts){.version = FACTS_VERSION,
                                  .n_files = 1,
                                  .files = &queue->file,
                                  .n_monitors = 1,
                                  .monitors = &queue->monitor};
    return &queue->facts;
}

#endif
