/* trace.persik -> struct trace. Nothing in the file is believed before it is checked: lengths
 * against what is left of the file, counts against the header, indices against their tables. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/memory.h"
#include "formats/trace.h"
#include "formats/trace_file.h"

#define AGAIN "run `persik trace` again"

struct reader {
    FILE *file;
    const char *path;
    uint64_t offset, size; /* bytes */
    struct error *error;
    struct trace *trace;
    bool header_only;
    /* The writer's numbers of API functions -> ours; -1 = we know no such function. */
    int *apis;
    size_t n_apis;
    /* Items so far, against the header's counts. */
    size_t *records, *slices, blocks;
};

static int corrupt(struct reader *reader, uint64_t offset, const char *what) {
    return error_set(reader->error, "%s: corrupted at byte %llu (%s): " AGAIN, reader->path,
                     (unsigned long long)offset, what);
}

static int take(struct reader *reader, void *to, size_t bytes) {
    if (bytes > reader->size - reader->offset || fread(to, 1, bytes, reader->file) != bytes)
        return error_set(reader->error, "%s: truncated at byte %llu: " AGAIN, reader->path,
                         (unsigned long long)reader->size);
    reader->offset += bytes;
    return 0;
}

/* ---- header ---- */

static char *read_text(const json_t *json) {
    return memory_strdup(json_string_value(json)); /* NULL for null */
}

/* `json` is an array of strings. */
static int read_texts(const json_t *json, char ***texts, size_t *n) {
    *texts = memory_alloc(json_array_size(json), sizeof **texts);
    *n = 0;
    for (size_t i = 0; i < json_array_size(json); i++) {
        char *text = read_text(json_array_get(json, i));
        if (!text)
            return -1;
        (*texts)[(*n)++] = text;
    }
    return 0;
}

/* What is younger than the version may be missing: 0. */
static void read_pieces(const json_t *json, double pieces_ns[PACE_KINDS]) {
    for (size_t kind = 0; kind < PACE_KINDS; kind++)
        pieces_ns[kind] = json_number_value(json_array_get(json, kind));
}

static void read_plain_runs(const json_t *cpu, const json_t *run, const json_t *pieces,
                            struct trace_meta *meta) {
    meta->n_untraced = json_array_size(cpu);
    if (meta->n_untraced)
        meta->untraced = memory_alloc(meta->n_untraced, sizeof *meta->untraced);
    for (size_t i = 0; i < meta->n_untraced; i++) {
        meta->untraced[i] = (struct trace_plain_run){
            .run_ns = (uint64_t)json_integer_value(json_array_get(run, i)),
            .cpu_ns = (uint64_t)json_integer_value(json_array_get(cpu, i)),
        };
        read_pieces(json_array_get(pieces, i), meta->untraced[i].piece_ns);
    }
}

static uint64_t read_count(const json_t *json, const char *key) {
    json_int_t count = json_integer_value(json_object_get(json, key));
    return count > 0 ? (uint64_t)count : 0;
}

static void read_elsewhere(const json_t *json, struct trace_elsewhere *elsewhere) {
    const json_t *handlers = json_object_get(json, "handlers");
    *elsewhere = (struct trace_elsewhere){
        .handlers = handlers ? read_text(handlers) : NULL,
        .children_cpu_ns = read_count(json, "children_cpu_ns"),
        .threads_cpu_ns = read_count(json, "threads_cpu_ns"),
        .children = (int)read_count(json, "children"),
        .left_running = (int)read_count(json, "left_running"),
        .quota_cores = json_number_value(json_object_get(json, "quota_cores")),
        .throttled_ns = read_count(json, "throttled_ns"),
    };
}

static int read_meta(json_t *json, struct trace_meta *meta) {
    json_t *args, *lacks, *directory, *build_id, *host, *date;
    int complete, has_slices, has_wakes, has_blocks;
    json_t *untraced_cpu = NULL, *untraced_run = NULL, *untraced_pieces = NULL, *pieces = NULL,
           *fastest_pieces = NULL, *libc = NULL,
           *loss = NULL; /* as `cpu`, younger than the version */
    json_int_t cpu = 0, start_real = 0;
    json_int_t start, run, untraced, spread, lost_records, lost_events, records, bytes;
    if (json_unpack(
            json,
            "{s:o, s:o, s:o, s:o, s:o, s:i, s?F, s:i, s:b, s:I, s:I, s:I, s:I, s:F, s:F, s:I, "
            "s:I, s:I, s:I, s:b, s:b, s:b, s?I, s?o, s?o, s:o, s?o, s?F, s?F, s?o, s?o, s?o, s?o, "
            "s?I, s?F, s?F}",
            "args", &args, "directory", &directory, "build_id", &build_id, "host", &host, "date",
            &date, "cores", &meta->cores, "tick_ns", &meta->tick_ns, "exit_status",
            &meta->exit_status, "complete", &complete, "start_mono_ns", &start, "run_ns", &run,
            "untraced_run_ns", &untraced, "untraced_spread_ns", &spread, "probe_ns",
            &meta->probe_ns, "timed_probe_ns", &meta->timed_probe_ns, "lost_records", &lost_records,
            "lost_events", &lost_events, "records", &records, "bytes", &bytes, "has_slices",
            &has_slices, "has_wakes", &has_wakes, "has_blocks", &has_blocks, "cpu_ns", &cpu,
            "untraced_cpu_ns", &untraced_cpu, "libc", &libc, "lacks", &lacks, "loss", &loss,
            "wake_cpu_ns", &meta->wake_cpu_ns, "preempt_ns", &meta->preempt_ns, "pieces_ns",
            &pieces, "fastest_pieces_ns", &fastest_pieces, "untraced_runs_ns", &untraced_run,
            "untraced_pieces_ns", &untraced_pieces, "start_real_ns", &start_real, "idle_wake_ns",
            &meta->idle_wake_ns, "sleep_cpu_ns", &meta->sleep_cpu_ns) != 0)
        return -1;
    meta->version = TRACE_VERSION;
    meta->directory = read_text(directory);
    meta->build_id = read_text(build_id);
    meta->host = read_text(host);
    meta->libc = libc ? read_text(libc) : memory_strdup("");
    meta->loss = loss ? read_text(loss) : NULL;
    meta->date = read_text(date);
    meta->complete = complete;
    meta->start_mono_ns = (uint64_t)start;
    meta->start_real_ns = (uint64_t)start_real;
    meta->run_ns = (uint64_t)run;
    meta->untraced_run_ns = (uint64_t)untraced;
    meta->untraced_spread_ns = (uint64_t)spread;
    meta->lost_records = (uint64_t)lost_records;
    meta->lost_events = (uint64_t)lost_events;
    meta->records = (uint64_t)records;
    meta->bytes = (uint64_t)bytes;
    meta->has_slices = has_slices;
    meta->has_wakes = has_wakes;
    meta->has_blocks = has_blocks;
    meta->cpu_ns = (uint64_t)cpu;
    read_elsewhere(json_object_get(json, "elsewhere"), &meta->elsewhere);
    read_plain_runs(untraced_cpu, untraced_run, untraced_pieces, meta);
    read_pieces(pieces, meta->pace.piece_ns);
    read_pieces(fastest_pieces, meta->pace.fastest_ns);
    size_t n_args = 0;
    int status = read_texts(args, &meta->args, &n_args);
    meta->n_args = (int)n_args;
    return read_texts(lacks, &meta->lacks, &meta->n_lacks) != 0 ? -1 : status;
}

static int read_apis(struct reader *reader, const json_t *json) {
    reader->n_apis = json_array_size(json);
    reader->apis = memory_alloc(reader->n_apis, sizeof *reader->apis);
    for (size_t i = 0; i < reader->n_apis; i++) {
        const char *name = json_string_value(json_array_get(json, i));
        if (!name)
            return -1;
        reader->apis[i] = api_find(name);
    }
    return 0;
}

static int read_frame(json_t *json, struct trace_frame *frame) {
    json_t *function, *file, *module;
    json_int_t offset;
    if (json_unpack(json, "[o, o, i, i, o, I]", &function, &file, &frame->line, &frame->column,
                    &module, &offset) != 0)
        return -1;
    frame->offset = (uint64_t)offset;
    frame->function = read_text(function);
    frame->file = read_text(file);
    frame->module = read_text(module);
    return frame->function && frame->module ? 0 : -1;
}

static int read_context(const json_t *chain, const json_t *frames, struct trace_context *context) {
    size_t depth = json_array_size(chain);
    context->frames = memory_alloc(depth, sizeof *context->frames);
    context->n_frames = depth;
    for (size_t f = 0; f < depth; f++) {
        const json_t *index = json_array_get(chain, f);
        json_t *frame = json_array_get(frames, (size_t)json_integer_value(index));
        if (!json_is_integer(index) || read_frame(frame, &context->frames[f]) != 0)
            return -1;
    }
    return 0;
}

static int read_contexts(struct trace *trace, const json_t *contexts, const json_t *frames) {
    trace->n_contexts = json_array_size(contexts);
    trace->contexts = memory_alloc(trace->n_contexts, sizeof *trace->contexts);
    for (size_t i = 0; i < trace->n_contexts; i++)
        if (read_context(json_array_get(contexts, i), frames, &trace->contexts[i]) != 0)
            return -1;
    return 0;
}

/* Younger than the version: absent is empty. */
static int read_span(json_t *thread, const char *key, struct trace_span *span) {
    json_t *json = json_object_get(thread, key);
    json_int_t from = 0, to = 0;
    if (json && (json_unpack(json, "[I, I]", &from, &to) != 0 || from < 0 || to < from))
        return -1;
    *span = (struct trace_span){(uint64_t)from, (uint64_t)to};
    return 0;
}

static int read_thread(const struct reader *reader, json_t *json, struct trace_thread *thread) {
    json_t *routine;
    json_int_t context, start, end, lost, records, slices;
    int end_seen;
    if (json_unpack(json, "{s:i, s:i, s:i, s:i, s:o, s:I, s:I, s:I, s:b, s:I, s:I, s:I}", "pid",
                    &thread->pid, "tid", &thread->tid, "index", &thread->index, "creator",
                    &thread->creator, "start_routine", &routine, "creation_context", &context,
                    "start_ns", &start, "end_ns", &end, "end_seen", &end_seen, "lost_records",
                    &lost, "records", &records, "slices", &slices) != 0 ||
        read_span(json, "attach", &thread->attach) != 0 ||
        read_span(json, "detach", &thread->detach) != 0)
        return -1;
    bool has_context = context >= 0 && (uint64_t)context < reader->trace->n_contexts;
    if (!has_context && context != -1)
        return -1;
    thread->creation_context = has_context ? (uint32_t)context : TRACE_NO_CONTEXT;
    thread->start_routine = read_text(routine);
    thread->start_ns = (uint64_t)start;
    thread->end_ns = (uint64_t)end;
    thread->end_seen = end_seen;
    thread->lost_records = (uint64_t)lost;
    thread->n_records = (size_t)records;
    thread->n_slices = (size_t)slices;
    return 0;
}

/* The arrays themselves grow with the sections: a count alone must not make us allocate. */
static int read_threads(struct reader *reader, const json_t *json) {
    struct trace *trace = reader->trace;
    trace->n_threads = json_array_size(json);
    trace->threads = memory_alloc(trace->n_threads, sizeof *trace->threads);
    reader->records = memory_alloc(trace->n_threads, sizeof *reader->records);
    reader->slices = memory_alloc(trace->n_threads, sizeof *reader->slices);
    for (size_t i = 0; i < trace->n_threads; i++)
        if (read_thread(reader, json_array_get(json, i), &trace->threads[i]) != 0 ||
            trace->threads[i].creator < -1 || trace->threads[i].creator >= (int)i ||
            !trace->threads[i].start_routine)
            return -1;
    return 0;
}

static int read_evictions(struct trace *trace, json_t *json) {
    trace->n_evictions = json_array_size(json);
    trace->evictions = memory_alloc(trace->n_evictions, sizeof *trace->evictions);
    for (size_t i = 0; i < trace->n_evictions; i++) {
        struct trace_eviction *eviction = &trace->evictions[i];
        json_int_t planned, from, to;
        int cpu, kind;
        if (json_unpack(json_array_get(json, i), "[i, i, I, I, I, F]", &cpu, &kind, &planned, &from,
                        &to, &eviction->survived) != 0 ||
            cpu < 0 || kind < EVICTION_HOLD || kind > EVICTION_PROBE || from > to)
            return -1;
        eviction->cpu = (uint32_t)cpu;
        eviction->kind = (enum trace_eviction_kind)kind;
        eviction->planned_ns = (uint64_t)planned;
        eviction->from_ns = (uint64_t)from;
        eviction->to_ns = (uint64_t)to;
    }
    return 0;
}

static int read_values(struct trace *trace, json_t *json) {
    trace->values = memory_alloc(json_array_size(json), sizeof *trace->values);
    for (size_t i = 0; i < json_array_size(json); i++) {
        const char *name;
        json_int_t mutex, time, value;
        int thread;
        if (json_unpack(json_array_get(json, i), "[s, I, i, I, I]", &name, &mutex, &thread, &time,
                        &value) != 0 ||
            thread < 0 || (size_t)thread >= trace->n_threads)
            return -1;
        trace->values[trace->n_values++] = (struct trace_value){
            memory_strdup(name), (uint64_t)mutex, thread, (uint64_t)time, (int64_t)value};
    }
    return 0;
}

static int read_header(struct reader *reader, const char *text, size_t bytes) {
    json_t *json = json_loadb(text, bytes, 0, NULL);
    json_t *meta, *apis, *frames, *contexts, *threads;
    json_t *evictions = NULL, *values = NULL; /* younger than the version */
    json_int_t blocks;
    int status = -1;
    if (json && json_unpack(json, "{s:o, s:o, s:o, s:o, s:o, s:I, s?o, s?o}", "meta", &meta, "apis",
                            &apis, "frames", &frames, "contexts", &contexts, "threads", &threads,
                            "blocks", &blocks, "evictions", &evictions, "values", &values) == 0) {
        reader->trace->n_blocks = (size_t)blocks;
        status = read_meta(meta, &reader->trace->meta);
        status = status ? status : read_apis(reader, apis);
        status = status ? status : read_contexts(reader->trace, contexts, frames);
        status = status ? status : read_threads(reader, threads);
        status = status ? status : read_evictions(reader->trace, evictions);
        status = status ? status : read_values(reader->trace, values);
    }
    json_decref(json);
    return status ? corrupt(reader, sizeof(struct trace_preamble), "header") : 0;
}

/* ---- sections ---- */

static int check_record(struct reader *reader, struct trace_record *record) {
    if (record->api >= reader->n_apis ||
        (record->context != TRACE_NO_CONTEXT && record->context >= reader->trace->n_contexts))
        return corrupt(reader, reader->offset, "a record's function or context");
    int api = reader->apis[record->api];
    if (api < 0)
        return error_set(reader->error,
                         "%s: calls a function this persik does not know: use the persik that "
                         "recorded it, or " AGAIN,
                         reader->path);
    record->api = (uint64_t)api;
    return 0;
}

/* Adds a section's items to `*items`, `*count` so far of `total`. */
static int append(struct reader *reader, const struct trace_section *section, const void *from,
                  size_t size, void **items, size_t *count, size_t total) {
    if (section->items != section->bytes / size || section->bytes % size ||
        section->items > total - *count)
        return corrupt(reader, reader->offset, "number of items");
    *items = memory_resize(*items, *count + section->items, size);
    memcpy((char *)*items + *count * size, from, section->bytes);
    *count += section->items;
    return 0;
}

static int read_records(struct reader *reader, const struct trace_section *section,
                        const void *from) {
    struct trace_thread *thread = &reader->trace->threads[section->thread];
    size_t *count = &reader->records[section->thread];
    size_t first = *count;
    void *items = thread->records;
    int status =
        append(reader, section, from, sizeof *thread->records, &items, count, thread->n_records);
    thread->records = items;
    for (size_t i = first; !status && i < *count; i++)
        status = check_record(reader, &thread->records[i]);
    return status;
}

static int read_slices(struct reader *reader, const struct trace_section *section,
                       const void *from) {
    struct trace_thread *thread = &reader->trace->threads[section->thread];
    void *items = thread->slices;
    int status = append(reader, section, from, sizeof *thread->slices, &items,
                        &reader->slices[section->thread], thread->n_slices);
    thread->slices = items;
    return status;
}

static int read_blocks(struct reader *reader, const struct trace_section *section,
                       const void *from) {
    const struct trace_block_entry *entries = from;
    struct trace *trace = reader->trace;
    if (section->items != section->bytes / sizeof *entries || section->bytes % sizeof *entries ||
        section->items > trace->n_blocks - reader->blocks)
        return corrupt(reader, reader->offset, "number of items");
    trace->blocks =
        memory_resize(trace->blocks, reader->blocks + section->items, sizeof *trace->blocks);
    for (uint64_t i = 0; i < section->items; i++) {
        const struct trace_block_entry *entry = &entries[i];
        if (entry->kind > BLOCK_DISCARD)
            return corrupt(reader, reader->offset, "a block request's kind");
        trace->blocks[reader->blocks++] = (struct trace_block){entry->queued_ns,
                                                               entry->issued_ns,
                                                               entry->completed_ns,
                                                               entry->device,
                                                               entry->tid,
                                                               entry->bytes,
                                                               (enum trace_block_kind)entry->kind};
    }
    return 0;
}

static int read_body(struct reader *reader, const struct trace_section *section, const char *body) {
    bool first = reader->apis == NULL;
    bool of_thread = section->kind == SECTION_RECORDS || section->kind == SECTION_SLICES;
    if (first != (section->kind == SECTION_HEADER))
        return corrupt(reader, reader->offset, "order of sections");
    if (section->thread >= (of_thread ? reader->trace->n_threads : 1))
        return corrupt(reader, reader->offset, "thread");
    if (first && section->items != 1)
        return corrupt(reader, reader->offset, "number of items");
    switch (section->kind) {
    case SECTION_HEADER:
        return read_header(reader, body, section->bytes);
    case SECTION_RECORDS:
        return read_records(reader, section, body);
    case SECTION_SLICES:
        return read_slices(reader, section, body);
    case SECTION_BLOCKS:
        return read_blocks(reader, section, body);
    default:
        return corrupt(reader, reader->offset, "kind of section");
    }
}

static int read_section(struct reader *reader, const struct trace_section *section) {
    uint64_t start = reader->offset;
    uint64_t most = section->kind == SECTION_HEADER ? TRACE_MAX_HEADER_BYTES : TRACE_BLOCK_BYTES;
    if (section->bytes > most || section->stored > ZSTD_COMPRESSBOUND(most))
        return corrupt(reader, start, "length of a section");
    char *frame = memory_alloc(section->stored, 1);
    char *body = memory_alloc(section->bytes, 1);
    int status = take(reader, frame, section->stored);
    if (!status) {
        size_t bytes = ZSTD_decompress(body, section->bytes, frame, section->stored);
        if (ZSTD_isError(bytes) || bytes != section->bytes)
            status = corrupt(reader, start, "checksum");
    }
    if (!status)
        status = read_body(reader, section, body);
    free(frame);
    free(body);
    return status;
}

static int check_counts(struct reader *reader, const struct trace_section *end, uint64_t sections) {
    const struct trace *trace = reader->trace;
    bool whole = end->items == sections && end->thread + end->bytes + end->stored == 0 &&
                 reader->apis && reader->blocks == trace->n_blocks;
    for (size_t i = 0; whole && i < trace->n_threads; i++)
        whole = reader->records[i] == trace->threads[i].n_records &&
                reader->slices[i] == trace->threads[i].n_slices;
    return whole ? 0 : corrupt(reader, reader->offset, "sections are missing");
}

static int read_preamble(struct reader *reader) {
    struct trace_preamble preamble;
    if (reader->size < sizeof preamble.magic)
        return error_set(reader->error, "%s: truncated at byte %llu: " AGAIN, reader->path,
                         (unsigned long long)reader->size);
    if (reader->size < sizeof preamble)
        memset(&preamble, 0, sizeof preamble);
    size_t bytes = reader->size < sizeof preamble ? reader->size : sizeof preamble;
    if (take(reader, &preamble, bytes) != 0)
        return -1;
    if (memcmp(preamble.magic, TRACE_MAGIC, sizeof preamble.magic) != 0)
        return error_set(reader->error, "%s: not a trace: " AGAIN, reader->path);
    if (bytes < sizeof preamble)
        return error_set(reader->error, "%s: truncated at byte %llu: " AGAIN, reader->path,
                         (unsigned long long)reader->size);
    if (preamble.version != TRACE_VERSION)
        return error_set(reader->error,
                         "%s: format version %u, this persik reads %d: use the persik that wrote "
                         "it, or " AGAIN,
                         reader->path, preamble.version, TRACE_VERSION);
    return 0;
}

static int read_sections(struct reader *reader) {
    for (uint64_t sections = 0;; sections++) {
        uint64_t start = reader->offset;
        struct trace_section section = {0};
        if (take(reader, &section, sizeof section) != 0)
            return -1;
        if (section.kind == SECTION_END)
            return check_counts(reader, &section, sections);
        if (section.kind < SECTION_HEADER || section.kind > SECTION_END)
            return corrupt(reader, start, "kind of section");
        if (read_section(reader, &section) != 0)
            return -1;
        if (reader->header_only)
            return 0;
    }
}

/* ---- file ---- */

static struct trace *load(const char *path, bool header_only, struct error *error) {
    struct reader reader = {.path = path, .error = error, .header_only = header_only};
    struct stat status;
    reader.file = fopen(path, "rbe");
    if (!reader.file || fstat(fileno(reader.file), &status) != 0 || !S_ISREG(status.st_mode)) {
        error_set(error, "%s: %s: run `persik trace` first", path,
                  reader.file ? "not a file" : strerror(errno));
        if (reader.file)
            fclose(reader.file);
        return NULL;
    }
    reader.size = (uint64_t)status.st_size;
    reader.trace = memory_alloc(1, sizeof *reader.trace);
    int failed = read_preamble(&reader) != 0 || read_sections(&reader) != 0;
    fclose(reader.file);
    free(reader.apis);
    free(reader.records);
    free(reader.slices);
    if (failed) {
        trace_free(reader.trace);
        return NULL;
    }
    return reader.trace;
}

struct trace *trace_load(const char *path, struct error *error) {
    return load(path, false, error);
}

struct trace *trace_load_header(const char *path, struct error *error) {
    return load(path, true, error);
}
