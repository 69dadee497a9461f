/* Page faults of mapped files that a disk serves, shown as reads. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/page_faults.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { US = 1000, DISK = 7 << 20, END = 100000 * US };

static struct trace *new_trace(int workers) {
    struct trace *trace = builder_new_with_workers(workers);
    trace->meta.has_blocks = trace->meta.has_pages = true;
    return trace;
}

static void touch(struct trace *trace, int thread, uint64_t us) {
    builder_pages(trace, (struct trace_pages){.time_ns = us * US,
                                              .file = 5,
                                              .first = us,
                                              .count = 1,
                                              .tid = trace->threads[thread].tid,
                                              .kind = PAGES_MAPPED});
}

static void ask_for(struct trace *trace, int thread, enum trace_block_kind kind, uint64_t us,
                    uint64_t done_us, uint64_t sector) {
    builder_block(trace, (struct trace_block){.queued_ns = us * US,
                                              .issued_ns = us * US,
                                              .completed_ns = done_us * US,
                                              .device = DISK,
                                              .bytes = 4096,
                                              .sector = sector,
                                              .kind = kind,
                                              .tid = trace->threads[thread].tid});
}

static void ask(struct trace *trace, int thread, enum trace_block_kind kind, uint64_t us,
                uint64_t done_us) {
    ask_for(trace, thread, kind, us, done_us, 8 + us);
}

static void run(struct trace *trace, int thread, uint64_t on_us, uint64_t off_us) {
    builder_run(trace, thread, (uint32_t)thread, on_us > 0 ? on_us * US - 100 : 0, on_us * US,
                off_us * US, false);
}

struct shown {
    struct trace *trace;
    struct event_log log;
    struct page_faults faults;
};

static struct shown show(struct trace *trace) {
    struct shown shown = {.trace = trace};
    builder_finish(trace, END);
    shown.log = event_log_of(trace);
    event_log_begin_pass(&shown.log, "page_faults");
    shown.faults = page_faults_as_reads(&shown.log, NULL, NULL);
    return shown;
}

static void end(struct shown *shown) {
    event_log_free(&shown->log);
    page_faults_free(&shown->faults);
    trace_free(shown->trace);
}

static size_t count_faults(struct trace *trace) {
    struct shown shown = show(trace);
    size_t n = count_shown(&shown.log, 0, ROLE_page_fault);
    end(&shown);
    return n;
}

/* Main touches a page at 100 us, asks for it at 110, and sleeps from then on until it is there. */
static struct trace *fault_that_sleeps(uint64_t from_us, enum trace_block_kind kind) {
    struct trace *trace = new_trace(0);
    run(trace, 0, 0, from_us);
    run(trace, 0, 5120, 6000);
    touch(trace, 0, 100);
    ask(trace, 0, kind, 110, 5100);
    return trace;
}

static struct trace *one_fault(void) {
    return fault_that_sleeps(120, BLOCK_READ);
}

static struct trace *one_asked_for_ahead(void) {
    return fault_that_sleeps(3000, BLOCK_READAHEAD);
}

static void a_wait_for_a_page_is_a_read(void **state) {
    (void)state;
    struct shown shown = show(one_fault());
    const struct trace_record *fault = shown_call(&shown.log, 0, 0);
    assert_int_equal(fault->api, ROLE_page_fault);
    assert_int_equal(fault->start_ns, 100 * US);
    assert_int_equal(trace_end_ns(fault), 5120 * US);
    assert_int_equal(fault->value, 4096);
    assert_int_equal(fault->object, 0);
    const struct trace_context *place = &shown.log.trace.contexts[fault->context];
    assert_string_equal(place->frames[0].function, "page faults of mapped files");
    assert_int_equal(shown.faults.n_faults, 1);
    assert_int_equal(shown.faults.n_ahead, 0);
    end(&shown);
}

static void samples_tell_where_it_is(void **state) {
    (void)state;
    static char main_name[] = "main", look[] = "look", file[] = "/src/t.c", module[] = "t";
    struct sample_node nodes[] = {
        {.parent = -1, .line = 5, .function = main_name, .file = file, .module = module},
        {.parent = 0, .line = 31, .function = look, .file = file, .module = module, .blocked = 10},
    };
    struct sample sample = {.version = SAMPLE_VERSION, .n_nodes = 2, .nodes = nodes};
    struct trace *trace = one_fault();
    builder_finish(trace, END);
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "page_faults");
    struct page_faults faults = page_faults_as_reads(&log, NULL, &sample);
    const struct trace_frame *frame =
        &log.trace.contexts[shown_call(&log, 0, 0)->context].frames[0];
    assert_string_equal(frame->function, "page faults in look");
    assert_int_equal(frame->line, 31);
    struct shown shown = {trace, log, faults};
    end(&shown);
}

static void without_the_kernels_word_requests_tell_of_it(void **state) {
    (void)state;
    struct trace *trace = one_fault();
    trace->n_pages = 0;
    trace->meta.has_pages = false;
    struct shown shown = show(trace);
    const struct trace_record *fault = shown_call(&shown.log, 0, 0);
    assert_int_equal(fault->start_ns, 110 * US);
    assert_int_equal(trace_end_ns(fault), 5120 * US);
    end(&shown);
}

/* A page that is not there yet when it is first looked for again. */
static void a_fault_may_sleep_more_than_once(void **state) {
    (void)state;
    struct trace *trace = new_trace(0);
    run(trace, 0, 0, 120);
    run(trace, 0, 2000, 2010);
    run(trace, 0, 5120, 6000);
    touch(trace, 0, 100);
    ask(trace, 0, BLOCK_READ, 110, 1990);
    ask(trace, 0, BLOCK_READ, 111, 5100);
    struct shown shown = show(trace);
    assert_int_equal(shown.log.trace.threads[0].n_records, 1);
    assert_int_equal(trace_end_ns(shown_call(&shown.log, 0, 0)), 5120 * US);
    end(&shown);
}

static void what_nobody_waits_for_is_asked_for_ahead(void **state) {
    (void)state;
    struct trace *trace = one_asked_for_ahead();
    touch(trace, 0, 2995); /* it comes to that page */
    struct shown shown = show(trace);
    assert_int_equal(shown.log.trace.threads[0].n_records, 2);
    const struct trace_record *ahead = shown_call(&shown.log, 0, 0),
                              *wait = shown_call(&shown.log, 0, 1);
    assert_true(ahead->object == 1 && ahead->value == 4096 && ahead->duration_ns < 20 * US);
    assert_true(wait->object == 1 && wait->value == 0);
    assert_int_equal(wait->start_ns, 2995 * US);
    assert_int_equal(trace_end_ns(wait), 5120 * US);
    assert_int_equal(shown.faults.n_ahead, 1);
    end(&shown);
}

/* At the first page of what was asked for before, the kernel asks for what follows it. */
static void it_may_wait_for_earlier_ones_in_the_same_fault(void **state) {
    (void)state;
    struct trace *trace = one_asked_for_ahead();
    touch(trace, 0, 2990);
    ask(trace, 0, BLOCK_READAHEAD, 2994, 9000);
    struct shown shown = show(trace);
    assert_int_equal(shown.log.trace.threads[0].n_records, 2);
    const struct trace_record *both = shown_call(&shown.log, 0, 1);
    assert_true(both->object == 1 && both->value == 4096);
    assert_int_equal(trace_end_ns(both), 5120 * US);
    end(&shown);
}

/* The kernel did not tell of the touch itself, which came right behind others. */
static void it_is_known_by_its_requests_too(void **state) {
    (void)state;
    struct trace *trace = one_asked_for_ahead();
    ask(trace, 0, BLOCK_READAHEAD, 2994, 9000);
    struct shown shown = show(trace);
    assert_int_equal(shown.log.trace.threads[0].n_records, 2);
    assert_int_equal(trace_end_ns(shown_call(&shown.log, 0, 1)), 5120 * US);
    end(&shown);
}

static void calls_keep_their_own_requests(void **state) {
    (void)state;
    struct trace *trace = one_fault();
    builder_call(trace, 0, "pread", 90 * US, 5200 * US, 3,
                 builder_context(trace, "load", 10, "main", 5));
    assert_int_equal(count_faults(trace), 0);
}

static void other_sleeps_and_requests_are_none(void **state) {
    (void)state;
    struct trace *trace = one_fault();
    trace->blocks[0].kind = BLOCK_WRITE;
    assert_int_equal(count_faults(trace), 0);
    trace = one_fault();
    trace->pages[0].time_ns = 200 * US; /* it touched no mapped file before */
    assert_int_equal(count_faults(trace), 0);
    trace = one_fault();
    trace->meta.has_slices = false;
    assert_int_equal(count_faults(trace), 0);
    trace = one_fault();
    trace->blocks[0].tid = 12345; /* another one's request that comes back at that time ... */
    assert_int_equal(count_faults(trace), 1);
    trace = one_fault();
    trace->blocks[0].tid = 12345;
    trace->threads[0].slices[1].waker = 2; /* ... but a thread of the program woke it */
    assert_int_equal(count_faults(trace), 0);
}

static void fragments_have_places_of_their_own(void **state) {
    (void)state;
    struct trace *trace = new_trace(0);
    uint32_t first = builder_context(trace, "look", 10, "main", 5),
             second = builder_context(trace, "look", 12, "main", 7);
    for (uint64_t us = 0; us < 40000; us += 10000) {
        run(trace, 0, us > 0 ? us - 4880 : 0, us + 120);
        touch(trace, 0, us + 100);
        ask(trace, 0, BLOCK_READ, us + 110, us + 5100);
        builder_record(trace, 0, "pthread_mutex_unlock", (us + 6000) * US, 0, 1,
                       us % 20000 ? second : first, 0);
    }
    run(trace, 0, 35120, 40000);
    struct shown shown = show(trace);
    assert_int_equal(shown.log.trace.threads[0].n_records, 8);
    assert_int_equal(shown.faults.n_fragments, 3); /* to the first call, and between the two */
    const struct trace_record *between = shown_call(&shown.log, 0, 2);
    const struct fault_fragment *fragment = page_faults_fragment(&shown.faults, between->context);
    assert_true(fragment && fragment->before == first && fragment->after == second);
    assert_null(page_faults_fragment(&shown.faults, first));
    const struct trace_context *place = &shown.log.trace.contexts[between->context];
    assert_string_equal(place->frames[place->n_frames - 1].function, "main");
    end(&shown);
}

/* Workers that share out what they look at in a loop that makes no call, anywhere or each in a row
 * of its own. */
static struct model *workers_model(bool is_shared_out, bool in_a_row) {
    enum { FAULTS = 9 };
    struct trace *trace = new_trace(2);
    uint32_t made = builder_context(trace, "main", 900, "main", 900);
    for (int t = 1; t <= 2; t++)
        builder_create(trace, 0, (uint64_t)t * US, 0, made, t);
    builder_join(trace, 0, 10 * US, 99000 * US, builder_context(trace, "main", 910, "main", 910),
                 1);
    builder_run(trace, 0, 0, 0, 0, 10 * US, false);
    for (uint64_t us = 0; us < FAULTS * 10000; us += 10000)
        for (int t = 1; t <= 2; t++) {
            uint64_t at = us + 2000 * (uint64_t)t;
            run(trace, t, us > 0 ? at - 4880 : 1, at + 120);
            touch(trace, t, at + 100);
            ask_for(trace, t, BLOCK_READ, at + 110, at + 5100,
                    in_a_row ? (uint64_t)t * 1000000 + us / 10000 * 8 : at);
        }
    for (int t = 1; t <= 2; t++)
        run(trace, t, (FAULTS - 1) * 10000 + 2000 * (uint64_t)t + 5120, 99000);
    static struct facts_loop loops[2];
    static char file[] = "t.c", worker[] = "worker", creator[] = "main", why[] = "its part";
    loops[0] = (struct facts_loop){.file = file,
                                   .function = worker,
                                   .first_line = 1,
                                   .last_line = 90,
                                   .bound = is_shared_out ? BOUND_SHARE : BOUND_FIXED,
                                   .why = why};
    loops[1] = (struct facts_loop){.file = file,
                                   .function = creator,
                                   .first_line = 899,
                                   .last_line = 901,
                                   .bound = BOUND_THREADS,
                                   .factor = 1,
                                   .why = why};
    struct facts_creation creation = {.place = {.function = creator, .file = file, .line = 900},
                                      .object = ON_THREAD,
                                      .name = worker,
                                      .per_thread = true};
    char *files[] = {file};
    struct facts facts = {.version = FACTS_VERSION,
                          .n_loops = 2,
                          .loops = loops,
                          .n_creations = 1,
                          .creations = &creation,
                          .n_files = 1,
                          .files = files};
    builder_finish(trace, END);
    return builder_model(trace, &facts);
}

static const struct node *io_node(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_IO)
            return &model->nodes[n];
    return NULL;
}

static void faults_follow_the_threads_as_what_is_computed_around_them(void **state) {
    (void)state;
    for (int is_shared_out = 0; is_shared_out <= 1; is_shared_out++) {
        struct model *model = workers_model(is_shared_out, false);
        const struct node *faults = io_node(model);
        assert_non_null(faults);
        assert_int_equal(model->objects[faults->object].kind, OBJECT_DISK);
        assert_true(dist_mean(&faults->stays) == 8);
        assert_true(faults->stays_scaling.share == is_shared_out);
        assert_int_equal(faults->n_calls, 2 * 9 * 4);
        assert_int_equal(faults->n_goes_on, 0);
        assert_null(model->standstill);
        model_free(model);
    }
}

static void a_thread_that_reads_on_goes_on_with_its_row(void **state) {
    (void)state;
    struct model *model = workers_model(false, true);
    const struct node *faults = io_node(model);
    assert_non_null(faults);
    assert_int_equal(faults->n_goes_on, 2 * 9);
    for (size_t c = 0; c < faults->n_goes_on; c++)
        assert_true(faults->goes_on[c] == (c < 2 ? 0 : 2));
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_a_page_is_a_read),
        cmocka_unit_test(samples_tell_where_it_is),
        cmocka_unit_test(without_the_kernels_word_requests_tell_of_it),
        cmocka_unit_test(a_fault_may_sleep_more_than_once),
        cmocka_unit_test(what_nobody_waits_for_is_asked_for_ahead),
        cmocka_unit_test(it_may_wait_for_earlier_ones_in_the_same_fault),
        cmocka_unit_test(it_is_known_by_its_requests_too),
        cmocka_unit_test(calls_keep_their_own_requests),
        cmocka_unit_test(other_sleeps_and_requests_are_none),
        cmocka_unit_test(fragments_have_places_of_their_own),
        cmocka_unit_test(faults_follow_the_threads_as_what_is_computed_around_them),
        cmocka_unit_test(a_thread_that_reads_on_goes_on_with_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
