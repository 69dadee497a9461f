#include "tracer/convert.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "tracer/attribution.h"
#include "tracer/endings.h"
#include "tracer/symbols.h"
#include "tracer/task_marks.h"
#include "tracer/wakers.h"

/* Of the run: what stops in the kernel may cost before that is worth a line. */
#define HOT_SHARE 0.01

#define MOST_COST_PS 1000000000u /* of a record; more is not to be believed */

struct converter {
    struct trace *trace;
    const struct convert_input *input;
    struct lacks *lacks;
    struct {
        size_t count, capacity;
        struct trace_context *items;
    } contexts;
    struct map known; /* hash of a context -> its index */
    struct {
        size_t count, capacity;
        struct trace_thread *items;
    } threads;
    struct {
        size_t count, capacity;
        struct trace_value *items;
    } values;
    uint64_t cut;      /* calls with other calls inside them */
    size_t n_unmapped; /* images of which no file with code is known */
};

/* Numbers of one image -> numbers of the trace. */
struct numbers {
    size_t n_contexts, n_threads;
    uint32_t *contexts; /* TRACE_NO_CONTEXT where there is none */
    int *threads;       /* by index in the image; -1 = not recorded */
};

/* Since the start of the run. */
static uint64_t to_ns(const struct converter *converter, uint64_t ticks) {
    uint64_t mono_ns = timebase_to_ns(converter->input->timebase, ticks);
    uint64_t start_ns = converter->input->start_mono_ns;
    return mono_ns > start_ns ? mono_ns - start_ns : 0;
}

/* ---- contexts ---- */

static void add_frames(struct trace_context *context, const struct trace_frame *frames, size_t n) {
    context->frames =
        memory_resize(context->frames, context->n_frames + n, sizeof *context->frames);
    for (size_t i = 0; i < n; i++) {
        struct trace_frame *frame = &context->frames[context->n_frames++];
        *frame = frames[i];
        frame->function = memory_strdup(frames[i].function);
        frame->file = memory_strdup(frames[i].file);
        frame->module = memory_strdup(frames[i].module);
    }
}

/* The same chain of return addresses relative to their modules: processes of one program share
 * contexts although they are loaded at different addresses. */
static uint64_t hash_context(struct symbols *symbols, const struct raw_context *raw) {
    uint64_t hash = raw->depth;
    for (uint32_t i = 0; i < raw->depth; i++) {
        size_t n;
        const struct trace_frame *frames = symbols_frames(symbols, raw->addresses[i], &n);
        hash = map_mix_text(map_mix(hash, frames[0].offset), frames[0].module);
    }
    return hash;
}

static uint32_t convert_context(struct converter *converter, struct symbols *symbols,
                                const struct raw_context *raw) {
    if (raw->depth == 0)
        return TRACE_NO_CONTEXT;
    uint64_t hash = hash_context(symbols, raw);
    int index = map_get(&converter->known, hash, -1);
    if (index >= 0)
        return (uint32_t)index;
    index = (int)converter->contexts.count;
    map_put(&converter->known, hash, index);
    struct trace_context *context = VECTOR_ADD(&converter->contexts);
    for (uint32_t i = 0; i < raw->depth; i++) {
        size_t n;
        const struct trace_frame *frames = symbols_frames(symbols, raw->addresses[i], &n);
        add_frames(context, frames, n);
    }
    return (uint32_t)index;
}

/* ---- records ---- */

static struct trace_record convert_record(struct converter *converter,
                                          const struct numbers *numbers,
                                          const struct raw_record *raw) {
    uint64_t start_ns = to_ns(converter, raw->start);
    uint64_t end_ns = to_ns(converter, raw->start + raw->duration);
    struct trace_record record = {
        .start_ns = start_ns,
        .duration_ns = end_ns > start_ns ? end_ns - start_ns : 0,
        .api = raw->api,
        .object = raw->object,
        .flags = raw->flags,
        .context =
            raw->context < numbers->n_contexts ? numbers->contexts[raw->context] : TRACE_NO_CONTEXT,
        .value = raw->value,
    };
    const struct api_info *api = &api_catalog[raw->api];
    if (api->object == ON_THREAD && api->op != OP_EXIT)
        record.value = raw->value >= 0 && (size_t)raw->value < numbers->n_threads
                           ? numbers->threads[raw->value]
                           : -1;
    return record;
}

/* A call that others were made inside of (by a signal handler, or by what pthread_once runs) is
 * counted up to the first of them. One that never ended lasts as long as its thread. */
static void end_records(struct converter *converter, struct trace_thread *thread) {
    for (size_t i = 0; i < thread->n_records; i++) {
        struct trace_record *record = &thread->records[i];
        bool last = i + 1 == thread->n_records;
        uint64_t limit_ns = last ? thread->end_ns : record[1].start_ns;
        if (limit_ns < record->start_ns)
            limit_ns = record->start_ns;
        if ((record->flags & TRACE_UNFINISHED) != 0)
            record->duration_ns = limit_ns - record->start_ns;
        if (!last && trace_end_ns(record) > limit_ns) {
            record->duration_ns = limit_ns - record->start_ns;
            converter->cut++;
        }
    }
}

static void convert_records(struct converter *converter, const struct numbers *numbers,
                            struct image_thread *raw, struct trace_thread *thread) {
    thread->records = memory_alloc(raw->n_records, sizeof *thread->records);
    for (size_t i = 0; i < raw->n_records; i++)
        if (raw->records[i].api < API_COUNT)
            thread->records[thread->n_records++] =
                convert_record(converter, numbers, &raw->records[i]);
    image_thread_free(raw);
}

/* ---- calls that the kernel saw ---- */

static bool call_failed(const struct uprobe_call *call) {
    return call->end_ns != 0 &&
           user_result_fails((enum user_failure)call->wrap->fails, call->result);
}

static uint64_t call_object(const struct uprobe_call *call) {
    switch (call->wrap->object_source) {
    case USER_ARGUMENT:
        return call->object & RAW_NO_OBJECT;
    case USER_RESULT:
        return call->result & RAW_NO_OBJECT;
    case USER_NAME:
        return (uint64_t)call->wrap->object_number;
    default:
        return RAW_NO_OBJECT;
    }
}

static int32_t call_value(const struct uprobe_call *call) {
    switch (call->wrap->amount_source) {
    case USER_ARGUMENT:
        return (int32_t)call->amount;
    case USER_NUMBER:
        return (int32_t)call->wrap->amount_number;
    default:
        return call_failed(call);
    }
}

static struct trace_record convert_call(struct converter *converter, struct symbols *symbols,
                                        const struct uprobe_call *call) {
    uint64_t origin_ns = converter->input->start_mono_ns;
    struct raw_context chain = {.depth = 1, .addresses = {call->caller}};
    unsigned flags = user_role_flags((enum api)call->wrap->api, call->wrap->spins);
    if (call->end_ns == 0)
        flags |= TRACE_UNFINISHED;
    else if (call_failed(call))
        flags |= TRACE_FAILED;
    return (struct trace_record){
        .start_ns = call->start_ns - origin_ns,
        .duration_ns = call->end_ns ? call->end_ns - call->start_ns : 0,
        .api = call->wrap->api,
        .object = call_object(call),
        .flags = flags,
        .context = convert_context(converter, symbols, &chain),
        .value = call_value(call),
    };
}

/* Is the record of something that the call does inside, and that nobody shall see? */
static bool is_hidden(const struct trace_record *record, const struct uprobe_call *call,
                      uint64_t origin_ns) {
    enum api_op op = trace_op(record);
    return call->end_ns != 0 && record->start_ns + origin_ns > call->start_ns &&
           record->start_ns + origin_ns < call->end_ns && op != OP_CREATE && op != OP_JOIN &&
           user_role_hides((enum api)call->wrap->api);
}

/* Merges the thread's calls into its records. */
static void merge_calls(struct converter *converter, struct symbols *symbols,
                        struct trace_thread *thread) {
    const struct convert_input *input = converter->input;
    size_t first = 0;
    while (first < input->n_calls && input->calls[first].tid != thread->tid)
        first++;
    size_t last = first;
    while (last < input->n_calls && input->calls[last].tid == thread->tid)
        last++;
    if (first == last)
        return;
    struct trace_record *merged = memory_alloc(thread->n_records + (last - first), sizeof *merged);
    size_t n = 0, r = 0;
    for (size_t c = first; c <= last; c++) {
        const struct uprobe_call *call = c < last ? &input->calls[c] : NULL;
        uint64_t start_ns = call ? call->start_ns - input->start_mono_ns : UINT64_MAX;
        for (; r < thread->n_records && thread->records[r].start_ns < start_ns; r++)
            if (c == first ||
                !is_hidden(&thread->records[r], &input->calls[c - 1], input->start_mono_ns))
                merged[n++] = thread->records[r];
        if (call && call->wrap->api < API_COUNT)
            merged[n++] = convert_call(converter, symbols, call);
    }
    free(thread->records);
    thread->records = merged;
    thread->n_records = n;
}

/* A run that stops in the kernel all the time is not the run that was asked about. */
static void tell_hot_calls(const struct converter *converter) {
    const struct convert_input *input = converter->input;
    double run_ns = (double)(input->end_mono_ns - input->start_mono_ns);
    double cost_ns = 2.0 * UPROBE_COST_NS * (double)input->n_calls;
    if (cost_ns > HOT_SHARE * run_ns)
        lacks_add(converter->lacks,
                  "the time of %zu stops in the kernel for functions of the catalog that cannot be "
                  "wrapped, %.0f %% of the run: leave them out, or compile them with "
                  "-fpatchable-function-entry=5",
                  2 * input->n_calls, 100 * cost_ns / run_ns);
}

/* Is it only what started the program: the same process became another image by exec? */
static bool is_superseded(const struct images *images, const struct image *image) {
    for (size_t i = 0; i < images->count; i++)
        if (images->items[i].process.pid == image->process.pid &&
            images->items[i].number > image->number)
            return true;
    return false;
}

/* Wrappers and scripts end by becoming the program, which is recorded in their place where the
 * probes could come along. */
static void tell_exec(struct converter *converter) {
    const struct images *images = converter->input->images;
    for (size_t i = 0; i < images->count; i++) {
        const struct image *image = &images->items[i];
        if (image->process.pid == images->items[0].process.pid &&
            (image->process.flags & RAW_EXECED) && !is_superseded(images, image))
            lacks_add(converter->lacks,
                      "what the program did after it became another one (exec), into which the "
                      "probe library was not loaded (static, set-user-id, or another user's): "
                      "record the other one itself");
    }
}

/* ---- slices ---- */

/* Keeps of the slices what lies in the run and in the image: a process that became another program
 * by exec has slices in both. Times become relative to the run. */
static size_t clip_slices(struct trace_slice *slices, size_t n, uint64_t low_ns, uint64_t high_ns,
                          uint64_t origin_ns) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct trace_slice slice = slices[i];
        slice.on_ns = slice.on_ns < low_ns ? low_ns : slice.on_ns;
        slice.off_ns = slice.off_ns > high_ns ? high_ns : slice.off_ns;
        if (slice.off_ns <= slice.on_ns)
            continue;
        slice.on_ns -= origin_ns;
        slice.off_ns -= origin_ns;
        slice.wake_ns = slice.wake_ns > origin_ns ? slice.wake_ns - origin_ns : 0;
        slices[kept++] = slice;
    }
    return kept;
}

static void convert_slices(struct converter *converter, const struct image *image,
                           struct trace_thread *thread) {
    const struct convert_input *input = converter->input;
    const struct raw_image *process = &image->process;
    size_t n_events;
    const struct sched_event *events =
        sched_find(input->events, input->n_events, (uint32_t)thread->tid, &n_events);
    if (n_events == 0)
        return;
    struct slices slices = {0};
    slices_build(&slices, events, n_events, input->start_mono_ns, input->end_mono_ns);
    uint64_t low_ns = image->number > 0 ? timebase_to_ns(input->timebase, process->start_ticks)
                                        : input->start_mono_ns;
    uint64_t high_ns = input->end_mono_ns;
    if (process->flags & RAW_EXECED && process->end_ticks)
        high_ns = timebase_to_ns(input->timebase, process->end_ticks);
    thread->slices = slices.items;
    thread->n_slices =
        clip_slices(slices.items, slices.count, low_ns, high_ns, input->start_mono_ns);
    converter->trace->meta.lost_events += slices.unpaired;
}

/* ---- threads ---- */

static struct trace_span to_span(const struct converter *converter, uint64_t from_ticks,
                                 uint64_t to_ticks) {
    struct trace_span span = {to_ns(converter, from_ticks), to_ns(converter, to_ticks)};
    return from_ticks && from_ticks < to_ticks && span.from_ns < span.to_ns
               ? span
               : (struct trace_span){0};
}

/* A thread lives from its first slice, which it needs to reach the probes, to its last. */
static void set_life(struct converter *converter, const struct image_thread *raw,
                     struct trace_thread *thread) {
    thread->attach = to_span(converter, raw->attach_from_ticks, raw->attach_to_ticks);
    thread->start_ns = to_ns(converter, raw->start_ticks);
    thread->end_seen = raw->end_ticks != 0;
    thread->end_ns = to_ns(converter, raw->end_ticks);
    if (!thread->end_seen)
        thread->end_ns = converter->input->end_mono_ns - converter->input->start_mono_ns;
    if (thread->n_slices == 0)
        return;
    uint64_t first_ns = thread->slices[0].on_ns;
    uint64_t last_ns = thread->slices[thread->n_slices - 1].off_ns;
    if (first_ns < thread->start_ns)
        thread->start_ns = first_ns;
    if (last_ns > thread->end_ns || !thread->end_seen)
        thread->end_ns = last_ns;
}

static void convert_thread(struct converter *converter, const struct image *image,
                           const struct numbers *numbers, struct image_thread *raw,
                           struct symbols *symbols, struct trace_thread *thread) {
    bool has_creator = raw->creator >= 0 && (size_t)raw->creator < numbers->n_threads;
    thread->pid = image->process.pid;
    thread->tid = raw->tid;
    thread->index = numbers->threads[raw->index];
    thread->creator = has_creator ? numbers->threads[raw->creator] : -1;
    thread->creation_context =
        raw->context < numbers->n_contexts ? numbers->contexts[raw->context] : TRACE_NO_CONTEXT;
    thread->start_routine = raw->start_routine ? symbols_function(symbols, raw->start_routine)
                                               : memory_strdup(raw->index == 0 ? "main" : "?");
    convert_slices(converter, image, thread);
    set_life(converter, raw, thread);
    convert_records(converter, numbers, raw, thread);
    merge_calls(converter, symbols, thread);
    task_marks_place(thread);
    end_records(converter, thread);
}

static size_t count_without_context(const struct converter *converter, const struct image *image) {
    size_t n = 0;
    for (size_t t = 0; t < converter->threads.count; t++) {
        const struct trace_thread *thread = &converter->threads.items[t];
        for (size_t r = 0; thread->pid == image->process.pid && r < thread->n_records; r++)
            n += thread->records[r].context == TRACE_NO_CONTEXT;
    }
    return n;
}

static void tell_losses(struct converter *converter, const struct image *image) {
    const struct raw_image *process = &image->process;
    if (process->flags & RAW_NO_CHUNK)
        lacks_add(
            converter->lacks,
            "part of process %d: it made records faster than they could be written down, or had "
            "too many threads at once",
            process->pid);
    if (process->flags & RAW_NO_CLOCK)
        lacks_add(converter->lacks,
                  "what a thread of process %d did after it gave its clock away (strict "
                  "seccomp)",
                  process->pid);
    if (process->flags & RAW_NO_CHAIN)
        lacks_add(
            converter->lacks,
            "where %zu calls of process %d were made: so many chains of calls lead there that "
            "there was no room for them",
            count_without_context(converter, image), process->pid);
}

/* Why records were lost; NULL: they were not. */
static char *find_loss(const struct convert_input *input) {
    switch (input->failure) {
    case 0:
        break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return memory_strdup("the disk is full: make room");
    default:
        return memory_format("they could not be written: %s", strerror(input->failure));
    }
    for (size_t i = 0; i < input->images->count; i++)
        if (input->images->items[i].process.flags & RAW_NO_CHUNK)
            return memory_strdup("they came faster than they could be written down");
    return NULL;
}

static struct numbers number_image(struct converter *converter, const struct image *image,
                                   struct symbols *symbols) {
    const struct images *images = converter->input->images;
    struct numbers numbers = {.n_contexts = images->n_contexts};
    numbers.contexts = memory_alloc(images->n_contexts, sizeof *numbers.contexts);
    for (size_t i = 0; i < images->n_contexts; i++)
        numbers.contexts[i] = images->contexts[i].root == image->process.root
                                  ? convert_context(converter, symbols, &images->contexts[i])
                                  : TRACE_NO_CONTEXT;
    if (image->n_threads > 0)
        numbers.n_threads = (size_t)image->threads[image->n_threads - 1].index + 1;
    numbers.threads = memory_alloc(numbers.n_threads, sizeof *numbers.threads);
    for (size_t i = 0; i < numbers.n_threads; i++)
        numbers.threads[i] = -1;
    for (size_t i = 0; i < image->n_threads; i++)
        numbers.threads[image->threads[i].index] = (int)(converter->threads.count + i);
    return numbers;
}

static void convert_values(struct converter *converter, const struct image *image,
                           const struct numbers *numbers) {
    for (size_t i = 0; i < image->n_values; i++) {
        const struct image_value *raw = &image->values[i];
        const char *name;
        int64_t value;
        if (!looks_read_value(converter->input->looks, raw, &name, &value) || raw->thread < 0 ||
            (size_t)raw->thread >= numbers->n_threads || numbers->threads[raw->thread] < 0)
            continue;
        *VECTOR_ADD(&converter->values) = (struct trace_value){
            memory_strdup(name), raw->mutex & RAW_NO_OBJECT, numbers->threads[raw->thread],
            to_ns(converter, raw->ticks), value};
    }
}

static int compare_values(const void *a, const void *b) {
    const struct trace_value *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void convert_image(struct converter *converter, struct image *image) {
    struct error error;
    if (image->maps[0] == '\0') { /* the others took all places in the segment's table */
        converter->n_unmapped++;
        return;
    }
    struct symbols *symbols = symbols_open(image->maps, &error);
    if (!symbols) {
        lacks_add(converter->lacks, "process %d: %s", image->process.pid, error.text);
        return;
    }
    struct numbers numbers = number_image(converter, image, symbols);
    struct trace_meta *meta = &converter->trace->meta;
    for (size_t i = 0; i < image->n_threads; i++) {
        struct trace_thread *thread = VECTOR_ADD(&converter->threads);
        convert_thread(converter, image, &numbers, &image->threads[i], symbols, thread);
        meta->records += thread->n_records;
    }
    convert_values(converter, image, &numbers);
    meta->lost_records += image->process.lost;
    tell_losses(converter, image);
    free(numbers.contexts);
    free(numbers.threads);
    symbols_close(symbols);
}

/* Then the kernel frees what the process had, a second for some ten gigabytes, on the core of the
 * thread that ended last. Who waits for the process waits for that, too, but events may end where a
 * thread begins to (so on Linux 6.18). */
static void end_process(struct converter *converter) {
    const struct convert_input *input = converter->input;
    struct trace_thread *threads = converter->threads.items, *last = NULL;
    for (size_t i = 0; i < converter->threads.count; i++)
        if (threads[i].pid == threads[0].pid && (!last || threads[i].end_ns > last->end_ns))
            last = &threads[i];
    uint64_t end_ns = input->end_mono_ns - input->start_mono_ns;
    if (!last || last->end_ns >= end_ns)
        return;
    if (last->n_slices > 0 && last->slices[last->n_slices - 1].off_ns == last->end_ns)
        last->slices[last->n_slices - 1].off_ns = end_ns;
    last->end_ns = end_ns;
}

/* ---- block requests ---- */

static void convert_blocks(struct converter *converter) {
    const struct convert_input *input = converter->input;
    struct attribution_run run = {converter->threads.items, converter->threads.count,
                                  input->end_mono_ns - input->start_mono_ns};
    struct attribution found = attribute_directly(input->requests, &run, input->start_mono_ns);
    size_t own = found.account.of[CAUSE_CALL].requests + found.account.of[CAUSE_NO_CALL].requests;
    if (own > 0 && own < input->requests->count) {
        char *text = block_account_tell(&found.account);
        lacks_add(converter->lacks, "block I/O of others: of %s", text);
        free(text);
    }
    if (own > 0 && input->reclaims)
        lacks_add(converter->lacks,
                  "which files stay in memory: the kernel takes cold pages out of it though there "
                  "is room (DAMON), so that a run may read again what others had found there");
    free(converter->trace->blocks);
    converter->trace->blocks = found.blocks;
    converter->trace->n_blocks = found.n_blocks;
    found.blocks = NULL;
    attribution_free(&found);
}

/* What the program wrote there may be anything. */
static double sane_cost_ns(uint64_t cost_ps) {
    return cost_ps < MOST_COST_PS ? (double)cost_ps / 1000 : 0;
}

void convert(struct trace *trace, const struct convert_input *input, struct lacks *lacks) {
    struct converter converter = {.trace = trace, .input = input, .lacks = lacks};
    for (size_t i = 0; i < input->images->count; i++)
        if (!is_superseded(input->images, &input->images->items[i]))
            convert_image(&converter, &input->images->items[i]);
    if (input->images->unseen > 0)
        lacks_add(lacks, "%u processes more: %u at most", input->images->unseen, RAW_MAX_IMAGES);
    if (converter.n_unmapped > 0)
        lacks_add(lacks,
                  "%zu processes: the segment has room for %u files with code, which earlier ones "
                  "took",
                  converter.n_unmapped, RAW_MAX_MODULES);
    trace->meta.loss = find_loss(input);
    end_process(&converter);
    if (input->requests)
        convert_blocks(&converter);
    tell_hot_calls(&converter);
    tell_exec(&converter);
    if (converter.cut > 0)
        lacks_add(lacks, "the rest of %llu calls inside which others were made (signal handlers)",
                  (unsigned long long)converter.cut);
    trace->meta.bytes = trace->meta.records * sizeof(struct trace_record);
    if (input->images->count > 0) {
        const struct raw_image *first = &input->images->items[0].process;
        trace->meta.probe_ns = sane_cost_ns(first->plain_ps);
        trace->meta.timed_probe_ns = sane_cost_ns(first->timed_ps);
    }
    trace->contexts = converter.contexts.items;
    trace->n_contexts = converter.contexts.count;
    VECTOR_SORT(&converter.values, compare_values);
    trace->values = converter.values.items;
    trace->n_values = converter.values.count;
    trace->threads = converter.threads.items;
    trace->n_threads = converter.threads.count;
    wakers_number(trace);
    endings_unlock(trace);
    map_free(&converter.known);
}
