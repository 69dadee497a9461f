/* modelgen/graph/file_mix: the requests that are left of a run with another mix of them;
 * cli/arguments/file_mix_option: what the user means by one. */
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
#include <sys/sysmacros.h>

#include "base/memory.h"
#include "cli/arguments/file_mix_option.h"
#include "modelgen/graph/file_mix.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

#define FILE_SYSTEM (8u << 20)

enum { EACH_NS = 1000, STEPS_EACH = 3, PAGE = 1, VIDEO = 2, NO_FILE = 0 };

/* A server of one file system; each thread's steps are START, for each request GET, IO and
 * TASK_END, and END, each with a record. */
struct server {
    struct trace *trace;
    struct stream streams[BUILDER_THREADS];
};

static void add_step(struct stream *stream, enum node_kind kind, uint64_t time_ns) {
    stream->steps = memory_resize(stream->steps, stream->n_steps + 1, sizeof *stream->steps);
    stream->steps[stream->n_steps] = step_new(kind, time_ns, time_ns, TRACE_NO_CONTEXT);
    stream->steps[stream->n_steps++].records = 1;
}

static struct server new_server(int threads) {
    struct server server = {.trace = builder_new(1)};
    server.trace->meta.has_pages = true;
    for (int t = 0; t < threads; t++) {
        builder_thread(server.trace, "serve", -1);
        add_step(&server.streams[t], NODE_START, 0);
    }
    return server;
}

static void read_page(struct server *server, int thread, uint64_t time_ns, uint64_t file) {
    builder_pages(server->trace,
                  (struct trace_pages){time_ns, file, 0, 1, FILE_SYSTEM,
                                       server->trace->threads[thread].tid, PAGES_READ});
}

/* The thread's request number `i`, which reads the file and ends at (i + 1) * EACH_NS. */
static void answer(struct server *server, int thread, size_t i, uint64_t file) {
    uint64_t start_ns = i * EACH_NS;
    struct stream *stream = &server->streams[thread];
    add_step(stream, NODE_GET, start_ns + 100);
    add_step(stream, NODE_IO, start_ns + 200);
    add_step(stream, NODE_TASK_END, start_ns + EACH_NS);
    if (file != NO_FILE)
        read_page(server, thread, start_ns + 200, file);
}

/* One thread answers so many requests, for a page and a video in turn. */
static struct server in_turn(size_t requests) {
    struct server server = new_server(1);
    for (size_t i = 0; i < requests; i++)
        answer(&server, 0, i, i % 2 == 0 ? PAGE : VIDEO);
    return server;
}

/* One thread answers 100 requests for one file. */
static struct server all_for(uint64_t file) {
    struct server server = new_server(1);
    for (size_t i = 0; i < 100; i++)
        answer(&server, 0, i, file);
    return server;
}

/* Videos come so many times as often. */
static struct mixed_run mix(struct server *server, double factor) {
    struct file_kind kind = {.name = (char[]){"video"}, .factor = factor};
    struct file_mix mix = {.kinds = &kind, .n = 1};
    builder_finish(server->trace, 1000 * EACH_NS);
    for (size_t t = 0; t < server->trace->n_threads; t++)
        add_step(&server->streams[t], NODE_END, 1000 * EACH_NS);
    map_put(&mix.kind_of, file_mix_key(FILE_SYSTEM, VIDEO), 0);
    struct mixed_run run = file_mix_apply(&mix, server->trace, server->streams);
    map_free(&mix.kind_of);
    return run;
}

static void end(struct server *server, struct mixed_run *run) {
    for (int t = 0; t < BUILDER_THREADS; t++)
        free(server->streams[t].steps);
    mixed_run_free(run);
    trace_free(server->trace);
}

/* How many requests of those whose number is `rest` modulo 2 are left. */
static size_t count_left(const struct mixed_run *run, size_t requests, size_t rest) {
    size_t left = 0;
    for (size_t i = rest; i < requests; i += 2)
        left += !mixed_run_lacks(run, 0, i * EACH_NS + 200);
    return left;
}

static void what_comes_more_often_stays_and_the_others_are_thinned_out(void **state) {
    (void)state;
    enum { REQUESTS = 200 };
    struct server server = in_turn(REQUESTS);
    struct mixed_run run = mix(&server, 2);
    assert_null(run.refused);
    assert_int_equal(run.recorded, REQUESTS);
    assert_int_equal(count_left(&run, REQUESTS, 1), 100);
    assert_in_range(count_left(&run, REQUESTS, 0), 50, 51);
    assert_in_range(count_left(&run, REQUESTS / 2, 0), 25, 26); /* evenly */
    assert_int_equal(run.kept, count_left(&run, REQUESTS, 0) + 100);
    assert_int_equal(server.streams[0].n_steps, 2 + STEPS_EACH * run.kept);
    end(&server, &run);
}

/* Of 100 requests for a page and as many for a video. */
static void assert_left(double factor, size_t pages, size_t videos) {
    enum { REQUESTS = 200 };
    struct server server = in_turn(REQUESTS);
    struct mixed_run run = mix(&server, factor);
    assert_int_equal(count_left(&run, REQUESTS, 0), pages);
    assert_int_equal(count_left(&run, REQUESTS, 1), videos);
    end(&server, &run);
}

static void less_often_is_the_others_more_often(void **state) {
    (void)state;
    assert_left(0.25, 100, 25);
    assert_left(0, 100, 0);
}

/* No computing and no probes of what is left out are the next step's. */
static void the_step_before_stands_for_what_is_left_out(void **state) {
    (void)state;
    enum { REQUESTS = 100 };
    struct server server = in_turn(REQUESTS);
    struct mixed_run run = mix(&server, 0);
    assert_null(run.refused);
    size_t records = 0;
    for (size_t s = 0; s < server.streams[0].n_steps; s++) {
        const struct step *step = &server.streams[0].steps[s];
        records += step->records + step->left_out;
        if (step->kind != NODE_GET || s == 1)
            continue;
        assert_int_equal(step[-1].kind, NODE_TASK_END);
        assert_int_equal(step[-1].left_out, STEPS_EACH);
        assert_true(step->start_ns - step[-1].end_ns == 100);
    }
    assert_int_equal(records, 2 + STEPS_EACH * REQUESTS);
    end(&server, &run);
}

/* What reads no file is of no kind. */
static void requests_without_files_are_among_the_others(void **state) {
    (void)state;
    struct server server = new_server(1);
    for (size_t i = 0; i < 120; i++)
        answer(&server, 0, i, i % 3 == 0 ? NO_FILE : i % 3 == 1 ? PAGE : VIDEO);
    struct mixed_run run = mix(&server, 4);
    assert_null(run.refused);
    assert_in_range(run.kept, 40 + 20, 40 + 21);
    end(&server, &run);
}

static void refused(struct server *server, double factor, const char *why) {
    struct mixed_run run = mix(server, factor);
    size_t steps = server->streams[0].n_steps;
    assert_non_null(run.refused);
    if (!strstr(run.refused, why))
        fail_msg("'%s' instead of '%s'", run.refused, why);
    assert_int_equal(run.left_out.count, 0);
    assert_int_equal(server->streams[0].n_steps, steps);
    end(server, &run);
}

static void what_the_recording_does_not_tell_is_refused(void **state) {
    (void)state;
    struct server server = in_turn(200);
    server.trace->meta.has_pages = false;
    refused(&server, 2, "does not tell which files were read");
    server = new_server(1);
    refused(&server, 2, "no requests are recognised");
    server = all_for(PAGE);
    refused(&server, 2, "no recorded request read a file of video");
    server = in_turn(20);
    refused(&server, 2, "too few to say");
    server = all_for(VIDEO);
    refused(&server, 0, "no requests at all");
    server = in_turn(200);
    int helper = builder_thread(server.trace, "help", -1);
    add_step(&server.streams[helper], NODE_START, 0);
    for (size_t i = 0; i < 200; i++)
        read_page(&server, helper, i * EACH_NS + 300, VIDEO);
    refused(&server, 2, "50 % of the reads");
    server = new_server(BUILDER_THREADS);
    for (int t = 0; t < BUILDER_THREADS; t++)
        for (size_t i = 0; i < 5; i++)
            answer(&server, t, i, t % 2 == 0 ? PAGE : VIDEO);
    refused(&server, 0, "answer few each");
}

/* ---- the model ---- */

enum {
    LISTENER = 3,
    CONNECTION = 5,
    FILE_FD = 6,
    BRIEF_NS = 10000,
    LONG_NS = 50000,
    GAP_NS = 100000
};

static void call(struct trace *trace, const char *api, int descriptor, uint64_t start_ns,
                 uint64_t end_ns, int value) {
    builder_record(trace, 1, api, start_ns, end_ns - start_ns, (uint64_t)descriptor,
                   builder_context(trace, api, 1, "worker", 2), value);
}

/* A worker accepts, and computes longer for videos than for pages, in turn. */
static struct trace *computing(size_t requests) {
    struct trace *trace = builder_new_with_workers(1);
    trace->meta.has_wakes = trace->meta.has_pages = true;
    builder_slice(trace, 0, 0, 10);
    for (size_t i = 1; i <= requests; i++) {
        uint64_t at = i * GAP_NS;
        uint64_t computed = at + (i % 2 == 0 ? BRIEF_NS : LONG_NS);
        call(trace, "accept", LISTENER, at - 30000, at, CONNECTION);
        call(trace, "read", CONNECTION, at + 100, at + 110, 16);
        call(trace, "pread", FILE_FD, at + 200, at + 210, 4096);
        builder_pages(trace, (struct trace_pages){at + 205, i % 2 == 0 ? PAGE : VIDEO, 0, 1,
                                                  FILE_SYSTEM, trace->threads[1].tid, PAGES_READ});
        call(trace, "write", CONNECTION, computed, computed + 10, 16);
        call(trace, "close", CONNECTION, computed + 20, computed + 30, 0);
        builder_run(trace, 1, 0, at - 50, at - 20, computed + 40, false);
    }
    call(trace, "accept", LISTENER, (requests + 1) * GAP_NS - 30000, (requests + 1) * GAP_NS, -1);
    builder_unfinished(trace, 1);
    builder_finish(trace, (requests + 1) * GAP_NS);
    return trace;
}

static double longest_computing(const struct model *model) {
    double longest = 0;
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++) {
            double mean = dist_mean(&model->nodes[n].edges[e].cpu_ns);
            longest = mean > longest ? mean : longest;
        }
    return longest;
}

static void what_requests_compute_follows_the_mix(void **state) {
    (void)state;
    struct trace *trace = computing(200);
    struct file_kind kind = {.name = (char[]){"video"}, .factor = 3};
    struct file_mix mix = {.kinds = &kind, .n = 1};
    map_put(&mix.kind_of, file_mix_key(FILE_SYSTEM, VIDEO), 0);
    struct model *mixed = NULL;
    const struct modelgen_options options = {.file_mix = &mix, .mixed = &mixed};
    struct error error;
    struct model *model = modelgen_build(trace, NULL, NULL, &options, &error);
    assert_non_null(model);
    assert_non_null(mixed);
    assert_null(model->file_mix);
    assert_non_null(strstr(mixed->file_mix, "those for video 3 times as often"));
    double most = longest_computing(model), mean = (BRIEF_NS + LONG_NS) / 2.0;
    assert_true(most > 0.95 * mean && most < 1.05 * mean);
    most = longest_computing(mixed);
    mean = (BRIEF_NS + 3 * LONG_NS) / 4.0;
    assert_true(most > 0.95 * mean && most < 1.05 * mean);
    model_free(model);
    model_free(mixed);
    mixed = NULL;
    kind.factor = 0.01;
    assert_null(modelgen_build(trace, NULL, NULL, &options, &error));
    assert_null(mixed);
    assert_non_null(strstr(error.text, "--file-mix: of the 100 recorded requests for video"));
    map_free(&mix.kind_of);
    trace_free(trace);
}

/* ---- the option ---- */

static void write_text(const char *folder, const char *name) {
    char *path = memory_format("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    free(path);
}

static int kind_of(const struct file_mix *mix, const char *folder, const char *name) {
    struct stat status;
    char *path = memory_format("%s/%s", folder, name);
    assert_int_equal(stat(path, &status), 0);
    free(path);
    return map_get(
        &mix->kind_of,
        file_mix_key((uint32_t)(major(status.st_dev) << 20 | minor(status.st_dev)), status.st_ino),
        -1);
}

static void add(struct file_mix *mix, const char *folder, const char *text) {
    struct error error;
    char *whole = memory_format("%s/%s", folder, text);
    assert_int_equal(file_mix_option_add(mix, whole, &error), 0);
    free(whole);
}

static void a_pattern_means_files_and_what_is_below_folders(void **state) {
    (void)state;
    const char *folder = scratch_folder;
    struct file_mix mix = {0};
    char *below = memory_format("%s/video", folder);
    assert_int_equal(mkdir(below, 0700), 0);
    free(below);
    write_text(folder, "video/long");
    write_text(folder, "a.png");
    write_text(folder, "a.html");
    add(&mix, folder, "video=2");
    add(&mix, folder, "*.png=50%");
    add(&mix, folder, "[av]*=3");
    assert_int_equal(mix.n, 3);
    assert_true(mix.kinds[0].factor == 2 && mix.kinds[1].factor == 0.5);
    assert_int_equal(kind_of(&mix, folder, "video/long"), 0);
    assert_int_equal(kind_of(&mix, folder, "a.png"), 1);
    assert_int_equal(kind_of(&mix, folder, "a.html"), 2);
    file_mix_option_free(&mix);
}

static void what_makes_no_sense_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"/srv", "give FILES=FACTOR"},        {"=2", "give FILES=FACTOR"},
        {"/srv=-1", "'-1' is no factor"},     {"/srv=twice", "'twice' is no factor"},
        {"/srv=nan", "'nan' is no factor"},   {"/srv=", "'' is no factor"},
        {"/no/such/file=2", "no such files"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file_mix mix = {0};
        struct error error;
        assert_int_equal(file_mix_option_add(&mix, cases[i].text, &error), -1);
        if (!strstr(error.text, cases[i].said))
            fail_msg("'%s' instead of '%s'", error.text, cases[i].said);
        file_mix_option_free(&mix);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_more_often_stays_and_the_others_are_thinned_out),
        cmocka_unit_test(less_often_is_the_others_more_often),
        cmocka_unit_test(the_step_before_stands_for_what_is_left_out),
        cmocka_unit_test(requests_without_files_are_among_the_others),
        cmocka_unit_test(what_the_recording_does_not_tell_is_refused),
        cmocka_unit_test(what_requests_compute_follows_the_mix),
        cmocka_unit_test_setup_teardown(a_pattern_means_files_and_what_is_below_folders,
                                        scratch_folder_make, scratch_folder_remove),
        cmocka_unit_test(what_makes_no_sense_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
