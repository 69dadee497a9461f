/* trace.persik -> struct trace. Nothing in the file is believed before it is checked: lengths
 * against what is left of the file, counts against the header, indices against their tables. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/memory.h"
#include "formats/binary_input.h"
#include "formats/json_input.h"
#include "formats/trace.h"
#include "formats/trace_file.h"

#define AGAIN "run `persik trace` again"

#define MOST_APIS     4096                /* functions in a catalog: ten times ours */
#define MOST_PAGES    (UINT64_C(1) << 52) /* of a file */
#define MOST_MEASURED 1e15                /* eleven days in ns */

struct reader {
    struct binary_input input;
    struct error *error;
    struct trace *trace;
    bool header_only;
    uint32_t version; /* of the file */
    /* The writer's numbers of API functions -> ours; -1 = we know no such function. */
    int *apis;
    size_t n_apis;
    /* Items so far, against the header's counts. */
    size_t *records, *slices, blocks, pages;
};

static int corrupt(struct reader *reader, uint64_t offset, const char *what) {
    return error_set(reader->error, "%s: corrupted at byte %llu (%s): " AGAIN, reader->input.path,
                     (unsigned long long)offset, what);
}

static int truncated(struct reader *reader) {
    return error_set(reader->error, "%s: truncated at byte %llu: " AGAIN, reader->input.path,
                     (unsigned long long)reader->input.size);
}

static int take(struct reader *reader, void *to, size_t bytes) {
    return binary_input_take(&reader->input, to, bytes) ? 0 : truncated(reader);
}

/* ---- header ---- */

/* Both of any clock, and far from where sums overflow: 146 years. */
static bool is_time(uint64_t ns) {
    return ns <= UINT64_C(1) << 62;
}

static char *read_text(const json_t *json) {
    return memory_strdup(json_string_value(json)); /* NULL for null */
}

/* `json` is an array of strings. */
static int read_texts(struct reader *reader, const json_t *json, char ***texts, size_t *n) {
    *texts = binary_input_allocate(&reader->input, json_array_size(json), sizeof **texts);
    *n = 0;
    for (size_t i = 0; i < json_array_size(json); i++) {
        char *text = *texts ? read_text(json_array_get(json, i)) : NULL;
        if (!text)
            return -1;
        (*texts)[(*n)++] = text;
    }
    return *texts ? 0 : -1;
}

/* A measured time or number; 0: not known. */
static bool is_measure(double value) {
    return value >= 0 && value <= MOST_MEASURED;
}

static bool are_measures(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!is_measure(values[i]))
            return false;
    return true;
}

/* What is younger than the version may be missing: 0. */
static void read_pieces(const json_t *json, double pieces_ns[PACE_KINDS]) {
    for (size_t kind = 0; kind < PACE_KINDS; kind++)
        pieces_ns[kind] = json_number_value(json_array_get(json, kind));
}

static const json_t *list_of(const json_t *json, const char *kind, const char *what) {
    char key[40];
    snprintf(key, sizeof key, "%s_%s", kind, what);
    return json_object_get(json, key);
}

/* CPU time, running time and speed of each of `kind`, in a list each. */
static int read_plain_runs(struct reader *reader, const json_t *json, const char *kind,
                           struct trace_plain_run **runs, size_t *n) {
    const json_t *cpu = list_of(json, kind, "cpu_ns"), *run = list_of(json, kind, "runs_ns"),
                 *pieces = list_of(json, kind, "pieces_ns");
    if (json_array_size(cpu) == 0)
        return 0;
    *runs = binary_input_allocate(&reader->input, json_array_size(cpu), sizeof **runs);
    if (!*runs)
        return -1;
    *n = json_array_size(cpu);
    for (size_t i = 0; i < *n; i++) {
        struct trace_plain_run *plain = &(*runs)[i];
        *plain = (struct trace_plain_run){
            .run_ns = (uint64_t)json_integer_value(json_array_get(run, i)),
            .cpu_ns = (uint64_t)json_integer_value(json_array_get(cpu, i)),
        };
        read_pieces(json_array_get(pieces, i), plain->piece_ns);
        if (!is_time(plain->run_ns) || !is_time(plain->cpu_ns) ||
            !are_measures(plain->piece_ns, PACE_KINDS))
            return -1;
    }
    return 0;
}

static uint64_t read_count(const json_t *json, const char *key) {
    json_int_t count = json_integer_value(json_object_get(json, key));
    return count > 0 ? (uint64_t)count : 0;
}

static int read_handlers(struct reader *reader, const json_t *json,
                         struct trace_elsewhere *elsewhere) {
    size_t n = json_array_size(json);
    elsewhere->handler =
        n > 0 ? binary_input_allocate(&reader->input, n, sizeof *elsewhere->handler) : NULL;
    if (n > 0 && !elsewhere->handler)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(json, i);
        char *function = read_text(json_object_get(item, "function"));
        if (!function)
            return -1;
        elsewhere->handler[elsewhere->n_handlers++] = (struct trace_handler){
            function, (int)read_count(item, "signal"), read_count(item, "runs")};
    }
    return 0;
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

/* Whether counts and times of the run are such; negative ones are far above them. */
static bool are_sound(const struct trace_meta *meta) {
    const double measures[] = {
        meta->tick_ns,    meta->probe_ns,     meta->timed_probe_ns, meta->wake_cpu_ns,
        meta->preempt_ns, meta->idle_wake_ns, meta->sleep_cpu_ns,   meta->elsewhere.quota_cores};
    return are_measures(measures, sizeof measures / sizeof *measures) &&
           are_measures(meta->pace.piece_ns, PACE_KINDS) &&
           are_measures(meta->pace.fastest_ns, PACE_KINDS) && meta->cores >= 1 &&
           is_time(meta->start_mono_ns) && is_time(meta->start_real_ns) && is_time(meta->run_ns) &&
           is_time(meta->untraced_run_ns) && is_time(meta->untraced_spread_ns) &&
           is_time(meta->cpu_ns) && is_time(meta->lost_records) && is_time(meta->lost_events) &&
           is_time(meta->records) && is_time(meta->bytes);
}

/* All but lists. */
static int read_fields(struct reader *reader, json_t *json) {
    struct trace_meta *meta = &reader->trace->meta;
    json_t *directory, *build_id, *host, *date, *args, *lacks, *libc = NULL;
    int complete, has_slices, has_wakes, has_blocks, has_wakers = 0;
    json_int_t cpu = 0, start_real = 0; /* younger than the version, as all with a default */
    json_int_t start, run, untraced, spread, lost_records, lost_events, records, bytes;
    if (json_unpack(
            json,
            "{s:o, s:o, s:o, s:o, s:o, s:i, s?F, s:i, s:b, s:I, s:I, s:I, s:I, s:F, s:F, s:I, "
            "s:I, s:I, s:I, s:b, s:b, s:b, s?I, s?o, s:o, s?F, s?F, s?I, s?F, s?F, s?b}",
            "args", &args, "directory", &directory, "build_id", &build_id, "host", &host, "date",
            &date, "cores", &meta->cores, "tick_ns", &meta->tick_ns, "exit_status",
            &meta->exit_status, "complete", &complete, "start_mono_ns", &start, "run_ns", &run,
            "untraced_run_ns", &untraced, "untraced_spread_ns", &spread, "probe_ns",
            &meta->probe_ns, "timed_probe_ns", &meta->timed_probe_ns, "lost_records", &lost_records,
            "lost_events", &lost_events, "records", &records, "bytes", &bytes, "has_slices",
            &has_slices, "has_wakes", &has_wakes, "has_blocks", &has_blocks, "cpu_ns", &cpu, "libc",
            &libc, "lacks", &lacks, "wake_cpu_ns", &meta->wake_cpu_ns, "preempt_ns",
            &meta->preempt_ns, "start_real_ns", &start_real, "idle_wake_ns", &meta->idle_wake_ns,
            "sleep_cpu_ns", &meta->sleep_cpu_ns, "has_wakers", &has_wakers) != 0)
        return -1;
    meta->version = (int)reader->version;
    meta->directory = read_text(directory);
    meta->build_id = read_text(build_id);
    meta->host = read_text(host);
    meta->libc = libc ? read_text(libc) : memory_strdup("");
    meta->loss = read_text(json_object_get(json, "loss"));
    meta->asks_cores = read_text(json_object_get(json, "asks_cores"));
    json_int_t left = json_integer_value(json_object_get(json, "left_cpu_ns"));
    meta->left_cpu_ns = left > 0 ? (uint64_t)left : 0;
    meta->has_pages = json_is_true(json_object_get(json, "has_pages"));
    meta->no_pages = read_text(json_object_get(json, "no_pages"));
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
    meta->has_wakers = has_wakers;
    meta->has_blocks = has_blocks;
    meta->cpu_ns = (uint64_t)cpu;
    return meta->directory && meta->build_id && meta->host && meta->libc && meta->date ? 0 : -1;
}

/* What each run and the whole recording are described by, in one object. */
static int read_meta(struct reader *reader, json_t *json) {
    struct trace_meta *meta = &reader->trace->meta;
    json_t *elsewhere = json_object_get(json, "elsewhere");
    size_t n_args = 0;
    if (read_fields(reader, json) != 0)
        return -1;
    read_elsewhere(elsewhere, &meta->elsewhere);
    read_pieces(json_object_get(json, "pieces_ns"), meta->pace.piece_ns);
    read_pieces(json_object_get(json, "fastest_pieces_ns"), meta->pace.fastest_ns);
    bool is_read =
        read_handlers(reader, json_object_get(elsewhere, "handler"), &meta->elsewhere) == 0 &&
        read_texts(reader, json_object_get(json, "args"), &meta->args, &n_args) == 0;
    meta->n_args = (int)n_args;
    is_read = is_read &&
              read_texts(reader, json_object_get(json, "lacks"), &meta->lacks, &meta->n_lacks) == 0;
    is_read = is_read &&
              read_plain_runs(reader, json, "untraced", &meta->untraced, &meta->n_untraced) == 0;
    is_read = is_read &&
              read_plain_runs(reader, json, "one_core", &meta->one_core, &meta->n_one_core) == 0;
    return is_read && are_sound(meta) ? 0 : -1;
}

static int read_apis(struct reader *reader, const json_t *json) {
    reader->n_apis = json_array_size(json);
    if (reader->n_apis > MOST_APIS)
        return -1;
    reader->apis = memory_alloc(reader->n_apis, sizeof *reader->apis);
    for (size_t i = 0; i < reader->n_apis; i++) {
        const char *name = json_string_value(json_array_get(json, i));
        if (!name)
            return -1;
        reader->apis[i] = api_find(name);
    }
    return 0;
}

/* The text is kept in the trace; NULL: none. */
static char *keep_text(struct trace *trace, const json_t *json) {
    char *text = read_text(json);
    if (text)
        trace->texts[trace->n_texts++] = text;
    return text;
}

static int read_frame(struct trace *trace, json_t *json, struct trace_frame *frame) {
    json_t *function, *file, *module;
    json_int_t offset;
    if (json_unpack(json, "[o, o, i, i, o, I]", &function, &file, &frame->line, &frame->column,
                    &module, &offset) != 0)
        return -1;
    frame->offset = (uint64_t)offset;
    frame->function = keep_text(trace, function);
    frame->file = keep_text(trace, file);
    frame->module = keep_text(trace, module);
    return frame->function && frame->module && frame->line >= 0 && frame->column >= 0 ? 0 : -1;
}

static int read_context(struct reader *reader, const json_t *chain, const struct trace_frame *known,
                        size_t n_known, struct trace_context *context) {
    size_t depth = json_array_size(chain);
    context->frames = binary_input_allocate(&reader->input, depth, sizeof *context->frames);
    if (!context->frames)
        return -1;
    context->n_frames = depth;
    for (size_t f = 0; f < depth; f++) {
        const json_t *index = json_array_get(chain, f);
        if (!json_is_integer(index) || (uint64_t)json_integer_value(index) >= n_known)
            return -1;
        context->frames[f] = known[json_integer_value(index)];
    }
    return 0;
}

static int read_chains(struct reader *reader, const json_t *chains, const struct trace_frame *known,
                       size_t n_known) {
    struct trace *trace = reader->trace;
    trace->contexts =
        binary_input_allocate(&reader->input, json_array_size(chains), sizeof *trace->contexts);
    if (!trace->contexts)
        return -1;
    trace->n_contexts = json_array_size(chains);
    for (size_t i = 0; i < trace->n_contexts; i++)
        if (read_context(reader, json_array_get(chains, i), known, n_known, &trace->contexts[i]) !=
            0)
            return -1;
    return 0;
}

static int read_contexts(struct reader *reader, const json_t *contexts, const json_t *frames) {
    size_t n = json_array_size(frames);
    struct trace *trace = reader->trace;
    struct trace_frame *known = binary_input_allocate(&reader->input, n, sizeof *known);
    trace->texts = binary_input_allocate(&reader->input, 3 * n, sizeof *trace->texts);
    int status = known && trace->texts ? 0 : -1;
    for (size_t i = 0; i < n && status == 0; i++)
        status = read_frame(trace, json_array_get(frames, i), &known[i]);
    status = status ? status : read_chains(reader, contexts, known, n);
    free(known);
    return status;
}

/* Younger than the version: absent is empty. */
static int read_span(json_t *thread, const char *key, struct trace_span *span) {
    json_t *json = json_object_get(thread, key);
    json_int_t from = 0, to = 0;
    if (json && (json_unpack(json, "[I, I]", &from, &to) != 0 || from < 0 || to < from ||
                 !is_time((uint64_t)to)))
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

/* Room for a thread's records and slices: what the header says alone must not make us allocate more
 * than the file is worth. */
static int make_room(struct reader *reader, struct trace_thread *thread) {
    if (thread->n_records > 0)
        thread->records =
            binary_input_allocate(&reader->input, thread->n_records, sizeof *thread->records);
    if (thread->n_slices > 0)
        thread->slices =
            binary_input_allocate(&reader->input, thread->n_slices, sizeof *thread->slices);
    return (thread->records || !thread->n_records) && (thread->slices || !thread->n_slices) ? 0
                                                                                            : -1;
}

static bool is_sound(const struct trace_thread *thread, size_t index) {
    return thread->creator >= -1 && thread->creator < (int)index && thread->start_routine &&
           is_time(thread->start_ns) && is_time(thread->end_ns) && is_time(thread->lost_records);
}

static int read_threads(struct reader *reader, const json_t *json) {
    struct trace *trace = reader->trace;
    size_t n = json_array_size(json);
    trace->threads = binary_input_allocate(&reader->input, n, sizeof *trace->threads);
    reader->records = binary_input_allocate(&reader->input, n, sizeof *reader->records);
    reader->slices = binary_input_allocate(&reader->input, n, sizeof *reader->slices);
    if (!trace->threads || !reader->records || !reader->slices)
        return -1;
    trace->n_threads = n;
    for (size_t i = 0; i < n; i++)
        if (read_thread(reader, json_array_get(json, i), &trace->threads[i]) != 0 ||
            !is_sound(&trace->threads[i], i) || make_room(reader, &trace->threads[i]) != 0)
            return -1;
    return 0;
}

static int read_evictions(struct reader *reader, json_t *json) {
    struct trace *trace = reader->trace;
    trace->evictions =
        binary_input_allocate(&reader->input, json_array_size(json), sizeof *trace->evictions);
    if (!trace->evictions)
        return -1;
    trace->n_evictions = json_array_size(json);
    for (size_t i = 0; i < trace->n_evictions; i++) {
        struct trace_eviction *eviction = &trace->evictions[i];
        json_int_t planned, from, to;
        int cpu, kind;
        if (json_unpack(json_array_get(json, i), "[i, i, I, I, I, F]", &cpu, &kind, &planned, &from,
                        &to, &eviction->survived) != 0 ||
            cpu < 0 || kind < EVICTION_HOLD || kind > EVICTION_PROBE || from < 0 || from > to ||
            !is_time((uint64_t)to) || !is_time((uint64_t)planned))
            return -1;
        eviction->cpu = (uint32_t)cpu;
        eviction->kind = (enum trace_eviction_kind)kind;
        eviction->planned_ns = (uint64_t)planned;
        eviction->from_ns = (uint64_t)from;
        eviction->to_ns = (uint64_t)to;
    }
    return 0;
}

static int read_values(struct reader *reader, json_t *json) {
    struct trace *trace = reader->trace;
    trace->values =
        binary_input_allocate(&reader->input, json_array_size(json), sizeof *trace->values);
    if (!trace->values)
        return -1;
    for (size_t i = 0; i < json_array_size(json); i++) {
        const char *name;
        json_int_t mutex, time, value;
        int thread;
        if (json_unpack(json_array_get(json, i), "[s, I, i, I, I]", &name, &mutex, &thread, &time,
                        &value) != 0 ||
            thread < 0 || (size_t)thread >= trace->n_threads || !is_time((uint64_t)time))
            return -1;
        trace->values[trace->n_values++] = (struct trace_value){
            memory_strdup(name), (uint64_t)mutex, thread, (uint64_t)time, (int64_t)value};
    }
    return 0;
}

/* Of the block requests, which have their own sections. */
static int read_sectors(struct reader *reader, json_t *json) {
    struct trace *trace = reader->trace;
    size_t n = json_array_size(json);
    if (n != 0 && n != trace->n_blocks)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_int_t sector = json_integer_value(json_array_get(json, i));
        if (sector < 0)
            return -1;
        trace->blocks[i].sector = (uint64_t)sector;
    }
    return 0;
}

static int read_parts(struct reader *reader, json_t *json) {
    struct trace *trace = reader->trace;
    json_t *meta, *apis, *frames, *contexts, *threads;
    json_t *sectors = NULL, *evictions = NULL, *values = NULL; /* younger than the version */
    json_int_t blocks, pages = 0;                              /* `pages`, too */
    if (json_unpack(json, "{s:o, s:o, s:o, s:o, s:o, s:I, s?I, s?o, s?o, s?o}", "meta", &meta,
                    "apis", &apis, "frames", &frames, "contexts", &contexts, "threads", &threads,
                    "blocks", &blocks, "pages", &pages, "sectors", &sectors, "evictions",
                    &evictions, "values", &values) != 0 ||
        blocks < 0 || pages < 0)
        return -1;
    trace->pages = binary_input_allocate(&reader->input, (size_t)pages, sizeof *trace->pages);
    if (!trace->pages)
        return -1;
    trace->n_pages = (size_t)pages;
    trace->blocks = binary_input_allocate(&reader->input, (size_t)blocks, sizeof *trace->blocks);
    if (!trace->blocks)
        return -1;
    trace->n_blocks = (size_t)blocks;
    int status = read_meta(reader, meta);
    status = status ? status : read_apis(reader, apis);
    status = status ? status : read_contexts(reader, contexts, frames);
    status = status ? status : read_threads(reader, threads);
    status = status ? status : read_sectors(reader, sectors);
    status = status ? status : read_evictions(reader, evictions);
    return status ? status : read_values(reader, values);
}

static int read_header(struct reader *reader, const char *text, size_t bytes) {
    uint64_t start = sizeof(struct trace_preamble);
    json_t *json = json_parse(text, bytes, 0, &reader->input.room, NULL);
    int status = json ? read_parts(reader, json) : -1;
    json_decref(json);
    if (status && reader->input.room.exhausted)
        return corrupt(reader, start, "more things than its size is for");
    return status ? corrupt(reader, start, "header") : 0;
}

/* ---- sections ---- */

static int check_record(struct reader *reader, struct trace_record *record) {
    if (!is_time(record->start_ns))
        return corrupt(reader, reader->input.offset, "a record's time");
    if (record->api >= reader->n_apis ||
        (record->context != TRACE_NO_CONTEXT && record->context >= reader->trace->n_contexts))
        return corrupt(reader, reader->input.offset, "a record's function or context");
    int api = reader->apis[record->api];
    if (api < 0)
        return error_set(reader->error,
                         "%s: calls a function this persik does not know: use the persik that "
                         "recorded it, or " AGAIN,
                         reader->input.path);
    record->api = (uint64_t)api;
    return 0;
}

/* Copies a section's items behind the `*count` of `total` that `items` has. */
static int append(struct reader *reader, const struct trace_section *section, const void *from,
                  size_t size, void *items, size_t *count, size_t total) {
    if (section->items != section->bytes / size || section->bytes % size ||
        section->items > total - *count)
        return corrupt(reader, reader->input.offset, "number of items");
    if (section->items > 0)
        memcpy((char *)items + *count * size, from, section->bytes);
    *count += section->items;
    return 0;
}

static int read_records(struct reader *reader, const struct trace_section *section,
                        const void *from) {
    struct trace_thread *thread = &reader->trace->threads[section->thread];
    size_t *count = &reader->records[section->thread];
    size_t first = *count;
    int status = append(reader, section, from, sizeof *thread->records, thread->records, count,
                        thread->n_records);
    for (size_t i = first; !status && i < *count; i++)
        status = check_record(reader, &thread->records[i]);
    return status;
}

static int read_slices(struct reader *reader, const struct trace_section *section,
                       const void *from) {
    struct trace_thread *thread = &reader->trace->threads[section->thread];
    size_t *count = &reader->slices[section->thread];
    size_t first = *count;
    int status = append(reader, section, from, sizeof *thread->slices, thread->slices, count,
                        thread->n_slices);
    for (size_t i = first; !status && i < *count; i++) {
        const struct trace_slice *slice = &thread->slices[i];
        if (!is_time(slice->wake_ns) || !is_time(slice->on_ns) || !is_time(slice->off_ns))
            return corrupt(reader, reader->input.offset, "a slice's time");
        if (slice->waker > reader->trace->n_threads)
            return corrupt(reader, reader->input.offset, "a slice's waker");
    }
    return status;
}

static int read_block(struct reader *reader, const struct trace_block_entry *entry,
                      struct trace_block *block) {
    if (entry->kind > BLOCK_DISCARD)
        return corrupt(reader, reader->input.offset, "a block request's kind");
    if (!is_time(entry->queued_ns) || !is_time(entry->issued_ns) || !is_time(entry->completed_ns))
        return corrupt(reader, reader->input.offset, "a block request's time");
    *block = (struct trace_block){entry->queued_ns,
                                  entry->issued_ns,
                                  entry->completed_ns,
                                  entry->device,
                                  entry->tid,
                                  entry->bytes,
                                  (enum trace_block_kind)entry->kind,
                                  block->sector};
    return 0;
}

static int read_blocks(struct reader *reader, const struct trace_section *section,
                       const void *from) {
    const struct trace_block_entry *entries = from;
    struct trace *trace = reader->trace;
    if (section->items != section->bytes / sizeof *entries || section->bytes % sizeof *entries ||
        section->items > trace->n_blocks - reader->blocks)
        return corrupt(reader, reader->input.offset, "number of items");
    for (uint64_t i = 0; i < section->items; i++)
        if (read_block(reader, &entries[i], &trace->blocks[reader->blocks++]) != 0)
            return -1;
    return 0;
}

static int read_pages(struct reader *reader, const struct trace_section *section,
                      const void *from) {
    struct trace *trace = reader->trace;
    size_t first = reader->pages;
    int status = append(reader, section, from, sizeof *trace->pages, trace->pages, &reader->pages,
                        trace->n_pages);
    for (size_t i = first; !status && i < reader->pages; i++) {
        const struct trace_pages *pages = &trace->pages[i];
        if (!is_time(pages->time_ns))
            return corrupt(reader, reader->input.offset, "a time of pages");
        if (pages->kind > PAGES_MAPPED || pages->first > MOST_PAGES)
            return corrupt(reader, reader->input.offset, "a kind or place of pages");
    }
    return status;
}

static int read_body(struct reader *reader, const struct trace_section *section, const char *body) {
    bool first = reader->apis == NULL;
    bool of_thread = section->kind == SECTION_RECORDS || section->kind == SECTION_SLICES;
    if (first != (section->kind == SECTION_HEADER))
        return corrupt(reader, reader->input.offset, "order of sections");
    if (section->thread >= (of_thread ? reader->trace->n_threads : 1))
        return corrupt(reader, reader->input.offset, "thread");
    if (first && section->items != 1)
        return corrupt(reader, reader->input.offset, "number of items");
    switch (section->kind) {
    case SECTION_HEADER:
        return read_header(reader, body, section->bytes);
    case SECTION_RECORDS:
        return read_records(reader, section, body);
    case SECTION_SLICES:
        return read_slices(reader, section, body);
    case SECTION_BLOCKS:
        return read_blocks(reader, section, body);
    case SECTION_PAGES:
        return read_pages(reader, section, body);
    default:
        return corrupt(reader, reader->input.offset, "kind of section");
    }
}

/* `frame` and `body` have the room that the section says. */
static int unpack_section(struct reader *reader, const struct trace_section *section, char *frame,
                          char *body) {
    uint64_t start = reader->input.offset;
    if (take(reader, frame, section->stored) != 0)
        return -1;
    size_t bytes = ZSTD_decompress(body, section->bytes, frame, section->stored);
    if (ZSTD_isError(bytes) || bytes != section->bytes)
        return corrupt(reader, start, "checksum");
    return read_body(reader, section, body);
}

static int read_section(struct reader *reader, const struct trace_section *section) {
    if (section->stored > reader->input.size - reader->input.offset)
        return truncated(reader);
    /* The header's is bounded by what the whole file is worth. */
    if (section->kind != SECTION_HEADER && section->bytes > TRACE_BLOCK_BYTES)
        return corrupt(reader, reader->input.offset, "length of a section");
    char *frame = binary_input_allocate(&reader->input, section->stored, 1);
    char *body = binary_input_allocate(&reader->input, section->bytes, 1);
    int status = frame && body ? unpack_section(reader, section, frame, body)
                               : corrupt(reader, reader->input.offset, "length of a section");
    if (frame)
        room_give_back(&reader->input.room, section->stored);
    if (body)
        room_give_back(&reader->input.room, section->bytes);
    free(frame);
    free(body);
    return status;
}

static int check_counts(struct reader *reader, const struct trace_section *end, uint64_t sections) {
    const struct trace *trace = reader->trace;
    bool whole = end->items == sections && end->thread + end->bytes + end->stored == 0 &&
                 reader->apis && reader->blocks == trace->n_blocks &&
                 reader->pages == trace->n_pages;
    for (size_t i = 0; whole && i < trace->n_threads; i++)
        whole = reader->records[i] == trace->threads[i].n_records &&
                reader->slices[i] == trace->threads[i].n_slices;
    return whole ? 0 : corrupt(reader, reader->input.offset, "sections are missing");
}

static int read_preamble(struct reader *reader) {
    struct trace_preamble preamble;
    if (reader->input.size < sizeof preamble.magic)
        return truncated(reader);
    if (reader->input.size < sizeof preamble)
        memset(&preamble, 0, sizeof preamble);
    size_t bytes = reader->input.size < sizeof preamble ? reader->input.size : sizeof preamble;
    if (take(reader, &preamble, bytes) != 0)
        return -1;
    if (memcmp(preamble.magic, TRACE_MAGIC, sizeof preamble.magic) != 0)
        return error_set(reader->error, "%s: not a trace: " AGAIN, reader->input.path);
    if (bytes < sizeof preamble)
        return truncated(reader);
    if (preamble.version < TRACE_OLDEST || preamble.version > TRACE_VERSION)
        return error_set(reader->error,
                         "%s: format version %u, this persik reads %d to %d: use the persik that "
                         "wrote it, or " AGAIN,
                         reader->input.path, preamble.version, TRACE_OLDEST, TRACE_VERSION);
    reader->version = preamble.version;
    return 0;
}

static int read_sections(struct reader *reader) {
    for (uint64_t sections = 0;; sections++) {
        uint64_t start = reader->input.offset;
        struct trace_section section = {0};
        if (take(reader, &section, sizeof section) != 0)
            return -1;
        if (section.kind == SECTION_END)
            return check_counts(reader, &section, sections);
        if (section.kind < SECTION_HEADER || section.kind > SECTION_PAGES)
            return corrupt(reader, start, "kind of section");
        if (read_section(reader, &section) != 0)
            return -1;
        if (reader->header_only)
            return 0;
    }
}

/* ---- file ---- */

static struct trace *load(const char *path, bool header_only, struct error *error) {
    struct reader reader = {.error = error, .header_only = header_only};
    if (binary_input_open(&reader.input, path, "persik trace", error) != 0)
        return NULL;
    reader.trace = memory_alloc(1, sizeof *reader.trace);
    int failed = read_preamble(&reader) != 0 || read_sections(&reader) != 0;
    binary_input_close(&reader.input);
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
