#include "tests/unit/trace_builder.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

const int builder_no_pools[BUILDER_THREADS];

/* ---- the trace and its threads ---- */

struct trace *builder_new(int cores) {
    struct trace *trace = memory_alloc(1, sizeof *trace);
    trace->meta.version = TRACE_VERSION;
    trace->meta.cores = cores;
    trace->meta.complete = true;
    trace->meta.has_slices = true;
    return trace;
}

struct trace *builder_new_with_workers(int workers) {
    struct trace *trace = builder_new(2);
    int creator = builder_thread(trace, "main", -1);
    for (int i = 0; i < workers; i++)
        builder_thread(trace, "worker", creator);
    return trace;
}

int builder_thread(struct trace *trace, const char *start_routine, int creator) {
    int index = (int)trace->n_threads++;
    trace->threads = memory_resize(trace->threads, trace->n_threads, sizeof *trace->threads);
    trace->threads[index] = (struct trace_thread){
        .pid = 1,
        .tid = 1 + index,
        .index = index,
        .creator = creator,
        .start_routine = memory_strdup(start_routine),
        .creation_context =
            creator >= 0 ? builder_context(trace, "main", 900, "main", 900) : TRACE_NO_CONTEXT,
        .end_seen = true};
    return index;
}

void builder_life(struct trace *trace, int thread, uint64_t start_ns, uint64_t end_ns) {
    trace->threads[thread].start_ns = start_ns;
    trace->threads[thread].end_ns = end_ns;
}

void builder_finish(struct trace *trace, uint64_t end_ns) {
    trace->meta.run_ns = end_ns;
    for (size_t t = 0; t < trace->n_threads; t++)
        builder_life(trace, (int)t, 0, end_ns);
}

/* ---- call sites ---- */

static char *copy_of(const char *text) {
    return text ? memory_strdup(text) : NULL;
}

static bool texts_equal(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool frames_equal(const struct trace_frame *a, const struct trace_frame *b) {
    return a->line == b->line && a->column == b->column && a->offset == b->offset &&
           texts_equal(a->function, b->function) && texts_equal(a->file, b->file) &&
           texts_equal(a->module, b->module);
}

static bool is_chain(const struct trace_context *context, size_t n_frames,
                     const struct trace_frame *frames) {
    size_t equal = 0;
    while (equal < n_frames && equal < context->n_frames &&
           frames_equal(&context->frames[equal], &frames[equal]))
        equal++;
    return equal == n_frames && context->n_frames == n_frames;
}

uint32_t builder_chain(struct trace *trace, size_t n_frames, const struct trace_frame *frames) {
    for (size_t c = 0; c < trace->n_contexts; c++)
        if (is_chain(&trace->contexts[c], n_frames, frames))
            return (uint32_t)c;
    struct trace_frame *copies = memory_alloc(n_frames, sizeof *copies);
    for (size_t f = 0; f < n_frames; f++) {
        copies[f] = frames[f];
        copies[f].function = copy_of(frames[f].function);
        copies[f].file = copy_of(frames[f].file);
        copies[f].module = copy_of(frames[f].module);
    }
    size_t index = trace->n_contexts++;
    trace->contexts = memory_resize(trace->contexts, trace->n_contexts, sizeof *trace->contexts);
    trace->contexts[index] = (struct trace_context){n_frames, copies};
    return (uint32_t)index;
}

uint32_t builder_context(struct trace *trace, const char *function, int line, const char *root,
                         int root_line) {
    char file[] = "t.c", module[] = "t";
    const struct trace_frame frames[] = {
        {(char *)function, file, line, 1, module, (uint64_t)line},
        {(char *)root, file, root_line, 1, module, (uint64_t)root_line}};
    return builder_chain(trace, 2, frames);
}

/* ---- calls ---- */

/* There is room for the next power of two: a test may take the last ones away again, but a thread
 * with many must not be copied for each. */
static void *with_room(void *items, size_t count, size_t more, size_t size) {
    size_t room = 1, wanted = 1;
    while (room < count)
        room *= 2;
    while (wanted < count + more)
        wanted *= 2;
    return wanted > room || !items ? memory_resize(items, wanted, size) : items;
}

struct trace_record *builder_record(struct trace *trace, int thread, const char *api,
                                    uint64_t start_ns, uint64_t duration_ns, uint64_t object,
                                    uint32_t context, int value) {
    int found = api_find(api);
    if (found < 0)
        fail_msg("the catalogue has no %s", api);
    struct trace_thread *to = &trace->threads[thread];
    assert_true(to->n_records == 0 || to->records[to->n_records - 1].start_ns <= start_ns);
    to->records = with_room(to->records, to->n_records, 1, sizeof *to->records);
    to->records[to->n_records] = (struct trace_record){.start_ns = start_ns,
                                                       .duration_ns = duration_ns,
                                                       .api = (uint64_t)found & 0xffff,
                                                       .object = object,
                                                       .flags = duration_ns ? TRACE_WAITED : 0,
                                                       .context = context,
                                                       .value = value};
    return &to->records[to->n_records++];
}

struct trace_record *builder_call(struct trace *trace, int thread, const char *api,
                                  uint64_t start_ns, uint64_t end_ns, uint64_t object,
                                  uint32_t context) {
    return builder_record(trace, thread, api, start_ns, end_ns - start_ns, object, context, 0);
}

void builder_create(struct trace *trace, int thread, uint64_t start_ns, uint64_t duration_ns,
                    uint32_t context, int created) {
    builder_record(trace, thread, "pthread_create", start_ns, duration_ns, 0, context, created);
}

void builder_join(struct trace *trace, int thread, uint64_t start_ns, uint64_t duration_ns,
                  uint32_t context, int joined) {
    builder_record(trace, thread, "pthread_join", start_ns, duration_ns, 0, context, joined);
}

void builder_copy_calls(struct trace *trace, int thread, int from) {
    struct trace_thread *to = &trace->threads[thread];
    const struct trace_thread *as = &trace->threads[from];
    to->records = with_room(to->records, to->n_records, as->n_records, sizeof *to->records);
    memcpy(&to->records[to->n_records], as->records, as->n_records * sizeof *as->records);
    to->n_records += as->n_records;
}

struct trace_record *builder_last(const struct trace *trace, int thread) {
    const struct trace_thread *of = &trace->threads[thread];
    assert_true(of->n_records > 0);
    return &of->records[of->n_records - 1];
}

void builder_unfinished(struct trace *trace, int thread) {
    builder_last(trace, thread)->flags |= TRACE_UNFINISHED;
}

/* ---- critical sections ---- */

/* The context of a call so many lines after the lock. */
static uint32_t line_of(struct trace *trace, const struct builder_section *section, int after) {
    return builder_context(trace, section->function, section->line + after,
                           section->caller ? section->caller : "thread",
                           section->caller_line ? section->caller_line : 100);
}

void builder_section(struct trace *trace, int thread, struct builder_section section) {
    const char *signal = section.broadcasts ? "pthread_cond_broadcast" : "pthread_cond_signal";
    uint64_t now = section.start_ns, end_ns = section.end_ns;
    if (!end_ns)
        end_ns = section.waits_for ? section.woken_ns + 1 : now + 3;
    builder_call(trace, thread, "pthread_mutex_lock", now, now, section.mutex,
                 line_of(trace, &section, 0));
    if (section.signals_before) {
        now++;
        builder_call(trace, thread, signal, now, now, section.signals_before,
                     line_of(trace, &section, 1));
    }
    if (section.waits_for)
        builder_call(trace, thread, "pthread_cond_wait", now + 1, section.woken_ns,
                     section.waits_for, line_of(trace, &section, 1));
    if (section.signals_after)
        builder_call(trace, thread, signal, end_ns - 1, end_ns - 1, section.signals_after,
                     line_of(trace, &section, 2));
    builder_call(trace, thread, "pthread_mutex_unlock", end_ns, end_ns, section.mutex,
                 line_of(trace, &section, 3));
}

/* ---- times on cores, and what else was seen ---- */

void builder_run(struct trace *trace, int thread, uint32_t cpu, uint64_t wake_ns, uint64_t on_ns,
                 uint64_t off_ns, bool preempted) {
    struct trace_thread *to = &trace->threads[thread];
    to->slices = with_room(to->slices, to->n_slices, 1, sizeof *to->slices);
    to->slices[to->n_slices++] = (struct trace_slice){
        .wake_ns = wake_ns, .on_ns = on_ns, .off_ns = off_ns, .cpu = cpu, .preempted = preempted};
}

void builder_slice(struct trace *trace, int thread, uint64_t on_ns, uint64_t off_ns) {
    builder_run(trace, thread, 0, 0, on_ns, off_ns, false);
}

void builder_run_all(struct trace *trace, uint64_t end_ns) {
    for (size_t t = 0; t < trace->n_threads; t++)
        builder_slice(trace, (int)t, 0, end_ns);
}

void builder_eviction(struct trace *trace, struct trace_eviction eviction) {
    trace->evictions =
        memory_resize(trace->evictions, trace->n_evictions + 1, sizeof *trace->evictions);
    trace->evictions[trace->n_evictions++] = eviction;
}

void builder_block(struct trace *trace, struct trace_block block) {
    trace->blocks = memory_resize(trace->blocks, trace->n_blocks + 1, sizeof *trace->blocks);
    trace->blocks[trace->n_blocks++] = block;
}

void builder_pages(struct trace *trace, struct trace_pages pages) {
    trace->pages = memory_resize(trace->pages, trace->n_pages + 1, sizeof *trace->pages);
    trace->pages[trace->n_pages++] = pages;
}

void builder_plain_run(struct trace *trace, uint64_t run_ns, uint64_t cpu_ns) {
    struct trace_meta *meta = &trace->meta;
    meta->untraced = memory_resize(meta->untraced, meta->n_untraced + 1, sizeof *meta->untraced);
    meta->untraced[meta->n_untraced++] =
        (struct trace_plain_run){.run_ns = run_ns, .cpu_ns = cpu_ns};
}

void builder_value(struct trace *trace, const char *name, uint64_t mutex, int thread,
                   uint64_t time_ns, int64_t value) {
    trace->values = memory_resize(trace->values, trace->n_values + 1, sizeof *trace->values);
    trace->values[trace->n_values++] =
        (struct trace_value){memory_strdup(name), mutex, thread, time_ns, value};
}

/* ---- what becomes of it ---- */

struct model *builder_model(struct trace *trace, const struct facts *facts) {
    struct error error = {0};
    struct model *model = modelgen_build(trace, facts, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    trace_free(trace);
    return model;
}

const struct facts *builder_queue_facts(struct builder_queue *queue, char *put, int put_line,
                                        char *get, int get_line) {
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
