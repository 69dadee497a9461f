/* struct trace -> trace.persik. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/room.h"
#include "formats/binary_input.h"
#include "formats/trace.h"
#include "formats/trace_file.h"

/* ---- header ---- */

/* JSON holds only UTF-8, and a program's arguments need not be: other bytes become '?'. */
static json_t *write_text(const char *text) {
    if (!text)
        return json_null();
    json_t *json = json_string(text);
    if (json)
        return json;
    char *plain = memory_strdup(text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json = json_string(plain);
    free(plain);
    return json;
}

static json_t *write_texts(char *const *texts, size_t n) {
    json_t *json = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(json, write_text(texts[i]));
    return json;
}

static json_t *write_pieces(const double pieces_ns[PACE_KINDS]) {
    return json_pack("[f, f]", pieces_ns[PACE_COMPUTING], pieces_ns[PACE_MEMORY]);
}

static void write_plain_runs(json_t *json, const char *const keys[3],
                             const struct trace_plain_run *runs, size_t n) {
    json_t *run = json_array(), *cpu = json_array(), *pieces = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(run, json_integer((json_int_t)runs[i].run_ns));
        json_array_append_new(cpu, json_integer((json_int_t)runs[i].cpu_ns));
        json_array_append_new(pieces, write_pieces(runs[i].piece_ns));
    }
    json_object_set_new(json, keys[0], run);
    json_object_set_new(json, keys[1], cpu);
    json_object_set_new(json, keys[2], pieces);
}

static json_t *write_handlers(const struct trace_elsewhere *elsewhere) {
    json_t *json = json_array();
    for (size_t i = 0; i < elsewhere->n_handlers; i++)
        json_array_append_new(json, json_pack("{s:o, s:i, s:I}", "function",
                                              write_text(elsewhere->handler[i].function), "signal",
                                              elsewhere->handler[i].signal, "runs",
                                              (json_int_t)elsewhere->handler[i].runs));
    return json;
}

static void write_elsewhere(json_t *json, const struct trace_elsewhere *elsewhere) {
    json_object_set_new(
        json, "elsewhere",
        json_pack("{s:I, s:I, s:i, s:i, s:f, s:I, s:o*, s:o*}", "children_cpu_ns",
                  (json_int_t)elsewhere->children_cpu_ns, "threads_cpu_ns",
                  (json_int_t)elsewhere->threads_cpu_ns, "children", elsewhere->children,
                  "left_running", elsewhere->left_running, "quota_cores", elsewhere->quota_cores,
                  "throttled_ns", (json_int_t)elsewhere->throttled_ns, "handlers",
                  elsewhere->handlers ? write_text(elsewhere->handlers) : NULL, "handler",
                  elsewhere->n_handlers > 0 ? write_handlers(elsewhere) : NULL));
}

static json_t *write_meta(const struct trace_meta *meta) {
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:i, s:f, s:i, s:b, s:I, s:I, s:I, s:I, s:f, s:f, "
        "s:I, s:I, s:I, "
        "s:I, s:b, s:b, s:b, s:I, s:o, s:o, s:o*, s:f, s:f, s:f, s:f}",
        "args", write_texts(meta->args, (size_t)meta->n_args), "directory",
        write_text(meta->directory), "build_id", write_text(meta->build_id), "host",
        write_text(meta->host), "date", write_text(meta->date), "cores", meta->cores, "tick_ns",
        meta->tick_ns, "exit_status", meta->exit_status, "complete", meta->complete,
        "start_mono_ns", (json_int_t)meta->start_mono_ns, "run_ns", (json_int_t)meta->run_ns,
        "untraced_run_ns", (json_int_t)meta->untraced_run_ns, "untraced_spread_ns",
        (json_int_t)meta->untraced_spread_ns, "probe_ns", meta->probe_ns, "timed_probe_ns",
        meta->timed_probe_ns, "lost_records", (json_int_t)meta->lost_records, "lost_events",
        (json_int_t)meta->lost_events, "records", (json_int_t)meta->records, "bytes",
        (json_int_t)meta->bytes, "has_slices", meta->has_slices, "has_wakes", meta->has_wakes,
        "has_blocks", meta->has_blocks, "cpu_ns", (json_int_t)meta->cpu_ns, "libc",
        write_text(meta->libc), "lacks", write_texts(meta->lacks, meta->n_lacks), "loss",
        meta->loss ? write_text(meta->loss) : NULL, "wake_cpu_ns", meta->wake_cpu_ns, "preempt_ns",
        meta->preempt_ns, "idle_wake_ns", meta->idle_wake_ns, "sleep_cpu_ns", meta->sleep_cpu_ns);
    json_object_set_new(json, "has_wakers", json_boolean(meta->has_wakers));
    json_object_set_new(json, "has_pages", json_boolean(meta->has_pages));
    if (meta->no_pages)
        json_object_set_new(json, "no_pages", write_text(meta->no_pages));
    json_object_set_new(json, "start_real_ns", json_integer((json_int_t)meta->start_real_ns));
    json_object_set_new(json, "pieces_ns", write_pieces(meta->pace.piece_ns));
    json_object_set_new(json, "fastest_pieces_ns", write_pieces(meta->pace.fastest_ns));
    if (meta->asks_cores)
        json_object_set_new(json, "asks_cores", write_text(meta->asks_cores));
    write_elsewhere(json, &meta->elsewhere);
    write_plain_runs(json,
                     (const char *[]){"untraced_runs_ns", "untraced_cpu_ns", "untraced_pieces_ns"},
                     meta->untraced, meta->n_untraced);
    if (meta->left_cpu_ns > 0)
        json_object_set_new(json, "left_cpu_ns", json_integer((json_int_t)meta->left_cpu_ns));
    if (meta->n_one_core > 0)
        write_plain_runs(
            json, (const char *[]){"one_core_runs_ns", "one_core_cpu_ns", "one_core_pieces_ns"},
            meta->one_core, meta->n_one_core);
    return json;
}

static json_t *write_apis(void) {
    json_t *json = json_array();
    for (int api = 0; api < API_COUNT; api++)
        json_array_append_new(json, json_string(api_catalog[api].name));
    return json;
}

static uint64_t hash_frame(const struct trace_frame *frame) {
    uint64_t hash = map_mix_text(1, frame->function ? frame->function : "");
    hash = map_mix_text(hash, frame->file ? frame->file : "");
    hash = map_mix_text(hash, frame->module ? frame->module : "");
    hash = map_mix(hash, (uint64_t)(unsigned)frame->line << 32 | (unsigned)frame->column);
    return map_mix(hash, frame->offset);
}

/* Contexts share most of their outer frames; each is written once. Gives the lists of indices. */
static json_t *write_contexts(const struct trace *trace, json_t *frames) {
    struct map known = MAP_EMPTY;
    json_t *contexts = json_array();
    for (size_t i = 0; i < trace->n_contexts; i++) {
        json_t *chain = json_array();
        for (size_t f = 0; f < trace->contexts[i].n_frames; f++) {
            const struct trace_frame *frame = &trace->contexts[i].frames[f];
            uint64_t hash = hash_frame(frame);
            int index = map_get(&known, hash, -1);
            if (index < 0) {
                index = (int)json_array_size(frames);
                map_put(&known, hash, index);
                json_array_append_new(
                    frames, json_pack("[o, o, i, i, o, I]", write_text(frame->function),
                                      write_text(frame->file), frame->line, frame->column,
                                      write_text(frame->module), (json_int_t)frame->offset));
            }
            json_array_append_new(chain, json_integer(index));
        }
        json_array_append_new(contexts, chain);
    }
    map_free(&known);
    return contexts;
}

static json_t *write_span(struct trace_span span) {
    return json_pack("[I, I]", (json_int_t)span.from_ns, (json_int_t)span.to_ns);
}

static json_t *write_thread(const struct trace_thread *thread) {
    json_int_t context =
        thread->creation_context == TRACE_NO_CONTEXT ? -1 : (json_int_t)thread->creation_context;
    return json_pack("{s:i, s:i, s:i, s:i, s:o, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:o, s:o}",
                     "pid", thread->pid, "tid", thread->tid, "index", thread->index, "creator",
                     thread->creator, "start_routine", write_text(thread->start_routine),
                     "creation_context", context, "start_ns", (json_int_t)thread->start_ns,
                     "end_ns", (json_int_t)thread->end_ns, "end_seen", thread->end_seen,
                     "lost_records", (json_int_t)thread->lost_records, "records",
                     (json_int_t)thread->n_records, "slices", (json_int_t)thread->n_slices,
                     "attach", write_span(thread->attach), "detach", write_span(thread->detach));
}

static json_t *write_values(const struct trace *trace) {
    json_t *json = json_array();
    for (size_t i = 0; i < trace->n_values; i++) {
        const struct trace_value *value = &trace->values[i];
        json_array_append_new(
            json, json_pack("[o, I, i, I, I]", write_text(value->name), (json_int_t)value->mutex,
                            value->thread, (json_int_t)value->time_ns, (json_int_t)value->value));
    }
    return json;
}

static json_t *write_evictions(const struct trace *trace) {
    json_t *json = json_array();
    for (size_t i = 0; i < trace->n_evictions; i++) {
        const struct trace_eviction *eviction = &trace->evictions[i];
        json_array_append_new(json, json_pack("[i, i, I, I, I, f]", (int)eviction->cpu,
                                              (int)eviction->kind, (json_int_t)eviction->planned_ns,
                                              (json_int_t)eviction->from_ns,
                                              (json_int_t)eviction->to_ns, eviction->survived));
    }
    return json;
}

static json_t *write_sectors(const struct trace *trace) {
    json_t *json = json_array();
    for (size_t i = 0; i < trace->n_blocks; i++)
        json_array_append_new(json, json_integer((json_int_t)trace->blocks[i].sector));
    return json;
}

static char *write_header(const struct trace *trace) {
    json_t *threads = json_array();
    for (size_t i = 0; i < trace->n_threads; i++)
        json_array_append_new(threads, write_thread(&trace->threads[i]));
    json_t *frames = json_array();
    json_t *contexts = write_contexts(trace, frames);
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o}", "meta", write_meta(&trace->meta),
        "apis", write_apis(), "frames", frames, "contexts", contexts, "threads", threads, "blocks",
        (json_int_t)trace->n_blocks, "pages", (json_int_t)trace->n_pages, "sectors",
        write_sectors(trace), "evictions", write_evictions(trace), "values", write_values(trace));
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(json);
    return text;
}

/* ---- sections ---- */

struct writer {
    FILE *file;
    ZSTD_CCtx *zstd;
    uint64_t sections;
    uint64_t bytes; /* of the file so far */
    char *frame;
    size_t capacity;
    bool failed; /* sticky: the first failure is told at the end; errno says which */
};

static void put(struct writer *writer, const void *from, size_t bytes) {
    if (!writer->failed && fwrite(from, 1, bytes, writer->file) != bytes)
        writer->failed = true;
    writer->bytes += bytes;
}

static void write_section(struct writer *writer, struct trace_section section, const void *from) {
    size_t bound = ZSTD_compressBound(section.bytes);
    if (bound > writer->capacity) {
        writer->frame = memory_resize(writer->frame, bound, 1);
        writer->capacity = bound;
    }
    size_t stored = ZSTD_compress2(writer->zstd, writer->frame, bound, from, section.bytes);
    if (ZSTD_isError(stored)) {
        errno = ENOMEM;
        writer->failed = true;
        return;
    }
    section.stored = stored;
    put(writer, &section, sizeof section);
    put(writer, writer->frame, stored);
    writer->sections++;
}

static void write_items(struct writer *writer, enum trace_section_kind kind, size_t thread,
                        const void *items, size_t n, size_t size) {
    size_t most = TRACE_BLOCK_BYTES / size;
    for (size_t first = 0; first < n; first += most) {
        size_t count = n - first < most ? n - first : most;
        struct trace_section section = {
            .kind = kind, .thread = (uint32_t)thread, .items = count, .bytes = count * size};
        write_section(writer, section, (const char *)items + first * size);
    }
}

static void write_blocks(struct writer *writer, const struct trace *trace) {
    struct trace_block_entry *entries = memory_alloc(trace->n_blocks, sizeof *entries);
    for (size_t i = 0; i < trace->n_blocks; i++) {
        const struct trace_block *block = &trace->blocks[i];
        entries[i] = (struct trace_block_entry){.queued_ns = block->queued_ns,
                                                .issued_ns = block->issued_ns,
                                                .completed_ns = block->completed_ns,
                                                .device = block->device,
                                                .tid = block->tid,
                                                .bytes = block->bytes,
                                                .kind = block->kind};
    }
    write_items(writer, SECTION_BLOCKS, 0, entries, trace->n_blocks, sizeof *entries);
    free(entries);
}

/* What a reader of the trace takes of its room, a section and its frame among it; `text` bytes: the
 * header. */
static uint64_t needed_room(const struct trace *trace, size_t text) {
    uint64_t bytes = text * (uint64_t)ROOM_OF_TEXT + trace->n_blocks * sizeof *trace->blocks +
                     trace->n_pages * sizeof *trace->pages + 3 * TRACE_BLOCK_BYTES;
    for (size_t i = 0; i < trace->n_contexts; i++)
        bytes += trace->contexts[i].n_frames * (uint64_t)ROOM_OF_FRAME;
    for (size_t i = 0; i < trace->n_threads; i++)
        bytes += trace->threads[i].n_records * sizeof *trace->threads[i].records +
                 trace->threads[i].n_slices * sizeof *trace->threads[i].slices;
    return bytes;
}

/* Where things are so much alike that the file is not worth what it unpacks to, it becomes as large
 * as it must be. */
static void write_padding(struct writer *writer, uint64_t needed) {
    uint64_t worth = room_file_bytes(needed);
    uint64_t left = worth > writer->bytes ? worth - writer->bytes : 0;
    while (left > 0 && !writer->failed) {
        uint32_t bytes = left < TRACE_BLOCK_BYTES ? (uint32_t)left : TRACE_BLOCK_BYTES;
        uint32_t skippable[2] = {ZSTD_MAGIC_SKIPPABLE_START, bytes};
        struct trace_section section = {.kind = SECTION_BLOCKS, .stored = sizeof skippable + bytes};
        put(writer, &section, sizeof section);
        put(writer, skippable, sizeof skippable);
        if (!writer->failed && fseeko(writer->file, bytes, SEEK_CUR) != 0)
            writer->failed = true;
        writer->bytes += bytes;
        writer->sections++;
        left -= bytes;
    }
}

static void write_trace(struct writer *writer, const struct trace *trace) {
    struct trace_preamble preamble = {.version = TRACE_VERSION};
    memcpy(preamble.magic, TRACE_MAGIC, sizeof preamble.magic);
    put(writer, &preamble, sizeof preamble);
    char *header = write_header(trace);
    if (!header) {
        errno = ENOMEM;
        writer->failed = true;
        return;
    }
    size_t bytes = strlen(header);
    struct trace_section section = {.kind = SECTION_HEADER, .items = 1, .bytes = bytes};
    write_section(writer, section, header);
    free(header);
    for (size_t i = 0; i < trace->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        write_items(writer, SECTION_RECORDS, i, thread->records, thread->n_records,
                    sizeof *thread->records);
        write_items(writer, SECTION_SLICES, i, thread->slices, thread->n_slices,
                    sizeof *thread->slices);
    }
    write_blocks(writer, trace);
    write_items(writer, SECTION_PAGES, 0, trace->pages, trace->n_pages, sizeof *trace->pages);
    write_padding(writer, needed_room(trace, bytes));
    struct trace_section end = {.kind = SECTION_END, .items = writer->sections};
    put(writer, &end, sizeof end);
    if (!writer->failed && fflush(writer->file) != 0)
        writer->failed = true;
}

/* ---- file ---- */

int trace_save(const struct trace *trace, const char *path, int level, struct error *error) {
    struct output output;
    if (output_begin(&output, path) != 0)
        return error_set(error, "%s: %s: choose a folder you may write to", path, strerror(errno));
    struct writer writer = {.file = output.file, .zstd = ZSTD_createCCtx()};
    ZSTD_CCtx_setParameter(writer.zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(writer.zstd, ZSTD_c_checksumFlag, 1);
    write_trace(&writer, trace);
    int cause = writer.failed ? errno : 0;
    ZSTD_freeCCtx(writer.zstd);
    free(writer.frame);
    if (writer.failed)
        output_abandon(&output);
    else if (output_commit(&output) != 0)
        cause = errno;
    if (writer.failed || cause)
        return error_set(error, "%s: %s: make room or choose another folder", path,
                         strerror(cause));
    return 0;
}
