/* Pipes that carry items from thread to thread. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/pipes.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER };
enum { READ_END = 3, WRITE_END = 4, ITEM = 8, ITEMS = 3, PIPE_BYTES = 65536, LONG_NS = 50000 };

static struct trace_record *on(struct trace *trace, int thread, const char *api, int descriptor,
                               uint64_t start_ns, uint64_t end_ns, int value) {
    return builder_record(trace, thread, api, start_ns, end_ns - start_ns, (uint64_t)descriptor,
                          TRACE_NO_CONTEXT, value);
}

static void make_pipe(struct trace *trace, uint64_t at_ns) {
    on(trace, MAIN, "pipe", 0, at_ns, at_ns + 5, WRITE_END << 16 | READ_END);
}

/* Main makes a pipe and writes an item into it now and then; the worker reads each, of which the
 * last has so many bytes, after a wait of so long. */
static struct trace *items_by_pipe(int last_bytes, uint64_t wait_ns) {
    struct trace *trace = builder_new_with_workers(1);
    make_pipe(trace, 10);
    for (uint64_t i = 1; i <= ITEMS; i++) {
        uint64_t at = i * 100000;
        on(trace, MAIN, "write", WRITE_END, at, at, ITEM);
        on(trace, WORKER, "read", READ_END, at + 10 - wait_ns, at + 10,
           i == ITEMS ? last_bytes : ITEM);
    }
    return trace;
}

/* Main closes its end, of which the worker hears by reading nothing, and closes its own. */
static void close_both(struct trace *trace) {
    on(trace, MAIN, "close", WRITE_END, 400000, 400001, 0);
    on(trace, WORKER, "read", READ_END, 350000, 400010, 0);
    on(trace, WORKER, "close", READ_END, 400020, 400021, 0);
}

static void assert_stays(const struct trace *trace) {
    struct event_log log = event_log_of(trace);
    pipes_as_queues(&log);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
}

static void what_is_written_and_read_item_by_item_is_a_queue(void **state) {
    (void)state;
    struct trace *trace = items_by_pipe(ITEM, LONG_NS);
    struct event_log log = event_log_of(trace);
    pipes_as_queues(&log);
    const struct trace_record *made = shown_call(&log, MAIN, 0);
    assert_int_equal(made->api, ROLE_create_queue);
    assert_int_equal(made->value, PIPE_BYTES / ITEM); /* has room for so many */
    assert_int_equal(count_shown(&log, MAIN, ROLE_put), ITEMS);
    assert_int_equal(count_shown(&log, WORKER, ROLE_get), ITEMS);
    for (size_t i = 0; i < ITEMS; i++) {
        const struct trace_record *get = shown_call(&log, WORKER, i);
        assert_int_equal(shown_call(&log, MAIN, 1 + i)->object, made->object);
        assert_int_equal(get->object, made->object);
        assert_int_equal(get->duration_ns, LONG_NS); /* when it was, stays */
        assert_false(get->flags & TRACE_FAILED);
    }
    assert_int_equal(trace->threads[WORKER].records[0].api, API_read); /* as it was */
    event_log_free(&log);
    trace_free(trace);
}

static void the_writers_close_is_the_queues_end(void **state) {
    (void)state;
    struct trace *trace = items_by_pipe(ITEM, LONG_NS);
    close_both(trace);
    struct event_log log = event_log_of(trace);
    pipes_as_queues(&log);
    assert_int_equal(shown_call(&log, MAIN, 1 + ITEMS)->api, ROLE_close_queue);
    const struct trace_record *last = shown_call(&log, WORKER, ITEMS);
    assert_int_equal(last->api, ROLE_get);
    assert_true(last->flags & TRACE_FAILED); /* nothing came any more */
    assert_int_equal(last->object, shown_call(&log, MAIN, 1 + ITEMS)->object);
    assert_int_equal(shown_call(&log, WORKER, 1 + ITEMS)->api, API_close); /* of no effect */
    event_log_free(&log);
    trace_free(trace);
}

/* Descriptors are used again: first for a file, then for another pipe. */
static void a_descriptor_is_the_pipes_until_it_is_closed(void **state) {
    (void)state;
    struct trace *trace = items_by_pipe(ITEM, LONG_NS);
    close_both(trace);
    on(trace, WORKER, "read", READ_END, 500000, 600000, ITEM);
    make_pipe(trace, 700000);
    on(trace, MAIN, "write", WRITE_END, 800000, 800000, ITEM);
    on(trace, WORKER, "read", READ_END, 750000, 800010, ITEM);
    struct event_log log = event_log_of(trace);
    pipes_as_queues(&log);
    assert_int_equal(count_shown(&log, WORKER, API_read), 1);
    const struct trace_record *second = shown_call(&log, MAIN, 2 + ITEMS);
    assert_int_equal(second->api, ROLE_create_queue);
    assert_int_not_equal(second->object, shown_call(&log, MAIN, 0)->object);
    assert_int_equal(shown_call(&log, WORKER, 3 + ITEMS)->object, second->object);
    event_log_free(&log);
    trace_free(trace);
}

static void a_stream_of_bytes_is_no_queue(void **state) {
    (void)state;
    struct trace *trace = items_by_pipe(ITEM / 2, LONG_NS);
    assert_stays(trace);
    trace_free(trace);
}

/* Whoever reads knew that something was there: it had waited for it elsewhere. */
static void a_pipe_that_nobody_waits_at_is_no_queue(void **state) {
    (void)state;
    struct trace *trace = items_by_pipe(ITEM, 100);
    assert_stays(trace);
    trace_free(trace);
}

static void a_pipe_that_could_not_be_made_is_none(void **state) {
    (void)state;
    struct trace *trace = items_by_pipe(ITEM, LONG_NS);
    trace->threads[MAIN].records[0].flags |= TRACE_FAILED;
    assert_stays(trace);
    trace_free(trace);
}

static void the_same_descriptor_of_another_process_is_another(void **state) {
    (void)state;
    struct trace *trace = items_by_pipe(ITEM, LONG_NS);
    trace->threads[WORKER].pid++;
    assert_stays(trace);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_and_read_item_by_item_is_a_queue),
        cmocka_unit_test(the_writers_close_is_the_queues_end),
        cmocka_unit_test(a_descriptor_is_the_pipes_until_it_is_closed),
        cmocka_unit_test(a_stream_of_bytes_is_no_queue),
        cmocka_unit_test(a_pipe_that_nobody_waits_at_is_no_queue),
        cmocka_unit_test(a_pipe_that_could_not_be_made_is_none),
        cmocka_unit_test(the_same_descriptor_of_another_process_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
