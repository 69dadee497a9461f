/* formats/trace.h: what is saved is loaded again, and nothing damaged is believed. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/memory.h"
#include "formats/trace.h"
#include "formats/trace_file.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

#define MANY_RECORDS (3 * TRACE_BLOCK_BYTES / sizeof(struct trace_record) + 7)

static char path[64];

static uint32_t add_context(struct trace *trace, const char *function, const char *file, int line) {
    char module[] = "program", main_function[] = "main", main_file[] = "/source/main.c";
    const struct trace_frame frames[] = {
        {(char *)function, (char *)file, line, 5, module, 0x1000u + (unsigned)line},
        {main_function, main_file, 99, 5, module, 0x1000u + 99}};
    return builder_chain(trace, 2, frames);
}

static void add_thread(struct trace *trace, uint32_t creation_context, size_t n_records) {
    int index = builder_thread(trace, trace->n_threads ? "work" : "main", -1);
    struct trace_thread *thread = &trace->threads[index];
    thread->pid = 100;
    thread->tid = 100 + index;
    thread->creator = index - 1;
    thread->creation_context = creation_context;
    thread->attach = (struct trace_span){12, 15};
    thread->lost_records = (uint64_t)index;
    builder_life(trace, index, 10, 1u << 30);
    for (size_t i = 0; i < n_records; i++)
        builder_record(trace, index, "pthread_mutex_lock", 100 * i, i % 90, 0x7fffffffffff,
                       i % 3 ? 0 : TRACE_NO_CONTEXT, -(int)i)
            ->flags = TRACE_WAITED;
    for (uint64_t i = 0; i < 3; i++)
        builder_run(trace, index, 1, 50 * i, 50 * i + 1, 50 * i + 40, i == 2);
}

static struct trace *make_trace(size_t n_records) {
    struct trace *trace = builder_new(2);
    struct trace_meta *meta = &trace->meta;
    *meta = (struct trace_meta){.version = TRACE_VERSION,
                                .n_args = 2,
                                .exit_status = 9,
                                .cores = 2,
                                .start_mono_ns = 1ull << 61,
                                .start_real_ns = 1ull << 60,
                                .run_ns = 123456789,
                                .untraced_run_ns = 120000000,
                                .untraced_spread_ns = 7,
                                .cpu_ns = 222,
                                .probe_ns = 18.5,
                                .timed_probe_ns = 30.25,
                                .wake_cpu_ns = 11000.5,
                                .preempt_ns = 17000.25,
                                .idle_wake_ns = 31000.75,
                                .sleep_cpu_ns = 4500.5,
                                .left_cpu_ns = 3000000000,
                                .lost_records = 1,
                                .lost_events = 2,
                                .records = n_records + 1,
                                .bytes = 32 * (n_records + 1),
                                .has_slices = true,
                                .has_blocks = true,
                                .has_pages = true,
                                .n_lacks = 1};
    meta->args = memory_alloc(2, sizeof *meta->args);
    meta->args[0] = memory_strdup("./program");
    meta->args[1] = memory_strdup("na\xefve"); /* not UTF-8 */
    builder_plain_run(trace, 212, 211);
    builder_plain_run(trace, 1ull << 41, 1ull << 40);
    for (int i = 0; i < 2; i++) {
        meta->untraced[i].piece_ns[PACE_COMPUTING] = i == 0 ? 25000.5 : 26000.25;
        meta->untraced[i].piece_ns[PACE_MEMORY] = i == 0 ? 11000.5 : 12000.25;
    }
    meta->pace = (struct pace_reading){{25500.5, 11500.5}, {24000.5, 10500.5}};
    meta->lacks = memory_alloc(1, sizeof *meta->lacks);
    meta->lacks[0] = memory_strdup("wake-up times: only root may see them");
    meta->directory = memory_strdup("/source");
    meta->build_id = memory_strdup("00ff");
    meta->host = memory_strdup("2 cores");
    meta->libc = memory_strdup("2.36");
    meta->date = memory_strdup("2026-01-02T03:04:05+0000");
    meta->loss = memory_strdup("the disk is full");
    meta->no_pages = memory_strdup("not known");
    add_context(trace, "inlined", NULL, 0);
    uint32_t work = add_context(trace, "work", "/source/work.c", 12);
    add_thread(trace, TRACE_NO_CONTEXT, 1);
    add_thread(trace, work, n_records);
    builder_block(
        trace, (struct trace_block){1, 2, 3, 254u << 20, 101, 4096, BLOCK_READAHEAD, 1ull << 33});
    builder_pages(trace,
                  (struct trace_pages){5, 1ull << 40, 1ull << 30, 9, 254u << 20, 101, PAGES_ADDED});
    builder_eviction(trace,
                     (struct trace_eviction){7, 1ull << 40, 4000000, 1, EVICTION_PROBE, 0.75});
    builder_value(trace, "struct queue.size", 1ull << 47, 1, 1ull << 41, -7);
    return trace;
}

static struct trace *save_and_load(size_t n_records) {
    struct error error = {0};
    struct trace *trace = make_trace(n_records);
    assert_int_equal(trace_save(trace, path, 0, &error), 0);
    trace_free(trace);
    struct trace *loaded = trace_load(path, &error);
    if (!loaded)
        fail_msg("%s", error.text);
    return loaded;
}

/* ---- file helpers ---- */

static char *read_file(size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    struct stat status;
    assert_int_equal(fstat(fileno(file), &status), 0);
    *size = (size_t)status.st_size;
    char *bytes = memory_alloc(*size, 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_file(const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Loading must fail with one line that names the file, holds `what` and says what to do. */
static void assert_refused(const char *what) {
    struct error error = {0};
    struct trace *trace = trace_load(path, &error);
    if (trace) {
        trace_free(trace);
        fail_msg("loaded, though it should be refused: %s", what);
    }
    if (!strstr(error.text, what) || !strstr(error.text, path) ||
        !strstr(error.text, "run `persik"))
        fail_msg("'%s' lacks '%s'", error.text, what);
    assert_null(strchr(error.text, '\n'));
}

/* ---- tests ---- */

static void saved_trace_loads_with_every_field(void **state) {
    (void)state;
    struct trace *wanted = make_trace(5);
    struct trace *trace = save_and_load(5);
    const struct trace_meta *meta = &trace->meta;
    assert_int_equal(meta->version, TRACE_VERSION);
    assert_int_equal(meta->n_args, 2);
    assert_string_equal(meta->args[0], "./program");
    assert_string_equal(meta->args[1], "na?ve");
    assert_string_equal(meta->directory, "/source");
    assert_string_equal(meta->build_id, "00ff");
    assert_string_equal(meta->loss, "the disk is full");
    assert_true(meta->has_pages);
    assert_true(meta->left_cpu_ns == 3000000000);
    assert_string_equal(meta->no_pages, "not known");
    assert_string_equal(meta->host, "2 cores");
    assert_string_equal(meta->libc, "2.36");
    assert_string_equal(meta->date, "2026-01-02T03:04:05+0000");
    assert_int_equal(meta->cores, 2);
    assert_int_equal(meta->exit_status, 9);
    assert_false(meta->complete);
    assert_true(meta->start_mono_ns == 1ull << 61 && meta->start_real_ns == 1ull << 60);
    assert_int_equal(meta->run_ns, 123456789);
    assert_int_equal(meta->untraced_run_ns, 120000000);
    assert_int_equal(meta->untraced_spread_ns, 7);
    assert_int_equal(meta->cpu_ns, 222);
    assert_int_equal(meta->n_untraced, 2);
    const struct trace_plain_run *plain = meta->untraced;
    assert_true(plain[0].run_ns == 212 && plain[1].run_ns == 1ull << 41);
    assert_true(plain[0].cpu_ns == 211 && plain[1].cpu_ns == 1ull << 40);
    assert_true(plain[0].piece_ns[PACE_COMPUTING] == 25000.5 &&
                plain[1].piece_ns[PACE_MEMORY] == 12000.25);
    assert_true(meta->pace.piece_ns[PACE_MEMORY] == 11500.5 &&
                meta->pace.fastest_ns[PACE_COMPUTING] == 24000.5);
    assert_true(meta->probe_ns == 18.5 && meta->timed_probe_ns == 30.25);
    assert_true(meta->wake_cpu_ns == 11000.5 && meta->preempt_ns == 17000.25);
    assert_true(meta->idle_wake_ns == 31000.75 && meta->sleep_cpu_ns == 4500.5);
    assert_int_equal(meta->lost_records, 1);
    assert_int_equal(meta->lost_events, 2);
    assert_int_equal(meta->records, 6);
    assert_int_equal(meta->bytes, 192);
    assert_true(meta->has_slices && !meta->has_wakes && meta->has_blocks);
    assert_int_equal(meta->n_lacks, 1);
    assert_string_equal(meta->lacks[0], wanted->meta.lacks[0]);
    assert_int_equal(trace->n_contexts, 2);
    assert_int_equal(trace->contexts[1].n_frames, 2);
    const struct trace_frame *frame = &trace->contexts[1].frames[0];
    assert_string_equal(frame->function, "work");
    assert_string_equal(frame->file, "/source/work.c");
    assert_string_equal(frame->module, "program");
    assert_true(frame->line == 12 && frame->column == 5 && frame->offset == 0x100c);
    assert_null(trace->contexts[0].frames[0].file);
    assert_int_equal(trace->n_threads, 2);
    const struct trace_thread *thread = &trace->threads[1];
    assert_true(thread->pid == 100 && thread->tid == 101 && thread->index == 1);
    assert_true(thread->creator == 0 && thread->creation_context == 1 && thread->end_seen);
    assert_true(thread->start_ns == 10 && thread->end_ns == 1u << 30);
    assert_true(thread->attach.from_ns == 12 && thread->attach.to_ns == 15);
    assert_true(thread->detach.from_ns == 0 && thread->detach.to_ns == 0);
    assert_int_equal(thread->lost_records, 1);
    assert_string_equal(thread->start_routine, "work");
    assert_int_equal(trace->threads[0].creation_context, TRACE_NO_CONTEXT);
    assert_int_equal(trace->n_pages, 1);
    assert_memory_equal(trace->pages, wanted->pages, sizeof *trace->pages);
    assert_int_equal(trace->n_blocks, 1);
    assert_memory_equal(&trace->blocks[0], &wanted->blocks[0], sizeof trace->blocks[0]);
    assert_int_equal(trace->n_evictions, 1);
    const struct trace_eviction *eviction = &trace->evictions[0];
    assert_true(eviction->from_ns == 7 && eviction->to_ns == 1ull << 40);
    assert_true(eviction->planned_ns == 4000000 && eviction->cpu == 1);
    assert_true(eviction->kind == EVICTION_PROBE && eviction->survived == 0.75);
    assert_int_equal(trace->n_values, 1);
    const struct trace_value *value = &trace->values[0];
    assert_string_equal(value->name, "struct queue.size");
    assert_true(value->mutex == 1ull << 47 && value->thread == 1);
    assert_true(value->time_ns == 1ull << 41 && value->value == -7);
    trace_free(trace);
    trace_free(wanted);
}

static void records_and_slices_survive_in_several_sections(void **state) {
    (void)state;
    struct trace *wanted = make_trace(MANY_RECORDS);
    struct trace *trace = save_and_load(MANY_RECORDS);
    const struct trace_thread *thread = &trace->threads[1];
    assert_int_equal(thread->n_records, MANY_RECORDS);
    assert_memory_equal(thread->records, wanted->threads[1].records,
                        MANY_RECORDS * sizeof *thread->records);
    assert_int_equal(thread->n_slices, 3);
    assert_memory_equal(thread->slices, wanted->threads[1].slices, 3 * sizeof *thread->slices);
    trace_free(trace);
    trace_free(wanted);
}

static void file_is_private_and_compressed(void **state) {
    (void)state;
    trace_free(save_and_load(MANY_RECORDS));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true((size_t)status.st_size < MANY_RECORDS * sizeof(struct trace_record) / 2);
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    trace_free(save_and_load(40));
    size_t size;
    char *bytes = read_file(&size);
    for (size_t kept = 0; kept < size; kept += kept < 100 ? 1 : 13) {
        write_file(bytes, kept);
        char what[64];
        snprintf(what, sizeof what, "truncated at byte %zu", kept);
        assert_refused(what);
    }
    free(bytes);
}

/* Some bits of a zstd frame mean nothing, so a damaged file may also load as it was. */
static void no_flipped_bit_changes_what_is_loaded(void **state) {
    (void)state;
    trace_free(save_and_load(40));
    size_t size;
    char *bytes = read_file(&size);
    size_t refused = 0;
    for (size_t at = 0; at < size; at += at < 150 ? 1 : 7) {
        bytes[at] ^= 1;
        write_file(bytes, size);
        bytes[at] ^= 1;
        struct error error = {0};
        struct trace *trace = trace_load(path, &error);
        if (!trace) {
            assert_non_null(strstr(error.text, path));
            refused++;
            continue;
        }
        assert_int_equal(trace_save(trace, path, 0, &error), 0);
        trace_free(trace);
        size_t size_again;
        char *again = read_file(&size_again);
        if (size_again != size || memcmp(again, bytes, size) != 0)
            fail_msg("the flipped byte %zu of %zu goes unnoticed", at, size);
        free(again);
    }
    assert_true(refused > 300);
    free(bytes);
}

/* Its slices have the flag of preemption alone. */
static void an_older_version_is_read(void **state) {
    (void)state;
    trace_free(save_and_load(1));
    size_t size;
    char *bytes = read_file(&size);
    uint32_t version = TRACE_OLDEST;
    memcpy(bytes + offsetof(struct trace_preamble, version), &version, sizeof version);
    write_file(bytes, size);
    free(bytes);
    struct error error = {0};
    struct trace *trace = trace_load(path, &error);
    assert_non_null(trace);
    assert_int_equal(trace->meta.version, TRACE_OLDEST);
    trace_free(trace);
}

static void a_waker_must_be_a_thread(void **state) {
    (void)state;
    struct error error = {0};
    struct trace *trace = make_trace(1);
    trace->meta.has_wakers = true;
    trace->threads[1].slices[0].waker = (uint32_t)trace->n_threads;
    trace->threads[1].slices[1].in_interrupt = 1;
    assert_int_equal(trace_save(trace, path, 0, &error), 0);
    struct trace *loaded = trace_load(path, &error);
    assert_non_null(loaded);
    assert_true(loaded->meta.has_wakers);
    assert_int_equal(loaded->threads[1].slices[0].waker, trace->n_threads);
    assert_true(loaded->threads[1].slices[1].in_interrupt);
    trace_free(loaded);
    trace->threads[1].slices[0].waker++;
    assert_int_equal(trace_save(trace, path, 0, &error), 0);
    assert_refused("waker");
    trace_free(trace);
}

static void what_was_measured_is_not_below_zero(void **state) {
    (void)state;
    struct error error = {0};
    struct trace *trace = make_trace(1);
    assert_true(trace->meta.n_untraced > 0);
    double *const measured[] = {
        &trace->meta.tick_ns, &trace->meta.sleep_cpu_ns, &trace->meta.pace.piece_ns[PACE_MEMORY],
        &trace->meta.untraced[0].piece_ns[PACE_COMPUTING], &trace->meta.elsewhere.quota_cores};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        double before = *measured[i];
        *measured[i] = -1;
        assert_int_equal(trace_save(trace, path, 0, &error), 0);
        assert_refused("header");
        *measured[i] = before;
    }
    trace_free(trace);
}

static void newer_version_is_refused_by_number(void **state) {
    (void)state;
    trace_free(save_and_load(1));
    size_t size;
    char *bytes = read_file(&size);
    uint32_t version = TRACE_VERSION + 1;
    memcpy(bytes + offsetof(struct trace_preamble, version), &version, sizeof version);
    write_file(bytes, size);
    free(bytes);
    char what[64];
    snprintf(what, sizeof what, "format version %u", version);
    assert_refused(what);
}

static void other_files_are_no_traces(void **state) {
    (void)state;
    write_file("{\"version\": 1, \"pools\": []}", 27);
    assert_refused("not a trace");
    unlink(path);
    assert_refused("No such file");
}

static void failed_save_leaves_the_old_trace(void **state) {
    (void)state;
    trace_free(save_and_load(5));
    struct error error = {0};
    struct trace *trace = make_trace(2);
    char missing[96];
    snprintf(missing, sizeof missing, "%s/missing/trace.persik", scratch_folder);
    assert_int_equal(trace_save(trace, missing, 0, &error), -1);
    assert_non_null(strstr(error.text, missing));
    trace_free(trace);
    struct trace *old = trace_load(path, &error);
    assert_non_null(old);
    assert_int_equal(old->threads[1].n_records, 5);
    trace_free(old);
}

/* Two million records that are all the same. */
static void what_packs_away_to_nothing_is_loaded_too(void **state) {
    (void)state;
    struct trace *trace = make_trace(2000000);
    struct trace_thread *thread = &trace->threads[1];
    memset(thread->records, 0, thread->n_records * sizeof *thread->records);
    struct error error = {0};
    assert_int_equal(trace_save(trace, path, 0, &error), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(16 * (size_t)status.st_size + (64u << 20) > 2000000 * sizeof *thread->records);
    struct trace *loaded = trace_load(path, &error);
    if (!loaded)
        fail_msg("%s", error.text);
    assert_int_equal(loaded->threads[1].n_records, 2000000);
    trace_free(loaded);
    trace_free(trace);
}

/* Writes a file whose only section is that header. */
static void write_header(const char *text) {
    struct trace_section section = {.kind = SECTION_HEADER, .items = 1, .bytes = strlen(text)};
    struct trace_preamble preamble = {.version = TRACE_VERSION};
    size_t head = sizeof preamble + sizeof section, bound = ZSTD_compressBound(section.bytes);
    char *file = memory_alloc(head + bound, 1);
    section.stored = ZSTD_compress(file + head, bound, text, section.bytes, 1);
    memcpy(preamble.magic, TRACE_MAGIC, sizeof preamble.magic);
    memcpy(file, &preamble, sizeof preamble);
    memcpy(file + sizeof preamble, &section, sizeof section);
    write_file(file, head + section.stored);
    free(file);
}

static void a_count_that_the_file_is_not_worth_is_refused_at_once(void **state) {
    (void)state;
    trace_free(save_and_load(5));
    size_t size;
    char *bytes = read_file(&size);
    struct trace_section section;
    memcpy(&section, bytes + sizeof(struct trace_preamble), sizeof section);
    char *text = memory_alloc(section.bytes + 1, 1);
    size_t got =
        ZSTD_decompress(text, section.bytes, bytes + sizeof(struct trace_preamble) + sizeof section,
                        section.stored);
    assert_int_equal(got, section.bytes);
    char *count = strstr(text, "\"records\":5,");
    assert_non_null(count);
    *count = '\0';
    char *changed = memory_format("%s\"records\":%s%s", text, "4000000000", count + 11);
    write_header(changed);
    assert_refused("more things than its size is for");
    free(changed);
    free(text);
    free(bytes);
}

static int make_folder(void **state) {
    if (scratch_folder_make(state) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/trace.persik", scratch_folder);
    return 0;
}

static int remove_folder(void **state) {
    unlink(path);
    return scratch_folder_remove_empty(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_trace_loads_with_every_field),
        cmocka_unit_test(what_packs_away_to_nothing_is_loaded_too),
        cmocka_unit_test(a_count_that_the_file_is_not_worth_is_refused_at_once),
        cmocka_unit_test(records_and_slices_survive_in_several_sections),
        cmocka_unit_test(file_is_private_and_compressed),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(no_flipped_bit_changes_what_is_loaded),
        cmocka_unit_test(an_older_version_is_read),
        cmocka_unit_test(a_waker_must_be_a_thread),
        cmocka_unit_test(what_was_measured_is_not_below_zero),
        cmocka_unit_test(newer_version_is_refused_by_number),
        cmocka_unit_test(other_files_are_no_traces),
        cmocka_unit_test(failed_save_leaves_the_old_trace),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
