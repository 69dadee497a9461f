/* The event cursor: each event once, in its order. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/event_cursor.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, SILENT, WORKER };

/* Main makes calls at 10, 20, 30, thread 1 none, thread 2 at 15 and 25. */
static struct trace *three_threads(void) {
    struct trace *trace = builder_new_with_workers(2);
    uint32_t context = builder_context(trace, "work", 10, "main", 20);
    for (uint64_t i = 1; i <= 3; i++)
        builder_record(trace, MAIN, "sem_post", 10 * i, 0, 0x10, context, 0);
    for (uint64_t i = 1; i <= 2; i++)
        builder_record(trace, WORKER, "sem_post", 5 + 10 * i, 0, 0x10, context, 0);
    builder_finish(trace, 100);
    return trace;
}

static void assert_goes_over(struct event_cursor at, size_t n, const uint64_t *times_ns) {
    for (size_t i = 0; i < n; i++) {
        assert_true(event_cursor_next(&at));
        assert_int_equal(at.event->start_ns, times_ns[i]);
        assert_ptr_equal(at.event, &at.threads[at.thread].records[at.number]);
    }
    assert_false(event_cursor_next(&at));
    assert_false(event_cursor_next(&at));
}

static void it_goes_over_the_run_thread_by_thread(void **state) {
    (void)state;
    struct trace *trace = three_threads();
    assert_goes_over(event_cursor_of_run(trace), 5, (uint64_t[]){10, 20, 30, 15, 25});
    struct event_cursor at = event_cursor_of_run(trace);
    for (int i = 0; i < 4; i++)
        event_cursor_next(&at);
    assert_int_equal(at.thread, WORKER);
    assert_int_equal(at.number, 0);
    trace_free(trace);
}

static void it_goes_over_one_thread_or_a_part_of_it(void **state) {
    (void)state;
    struct trace *trace = three_threads();
    const struct trace_thread *thread = &trace->threads[MAIN];
    assert_goes_over(event_cursor_of_thread(thread), 3, (uint64_t[]){10, 20, 30});
    assert_goes_over(event_cursor_of_thread(&trace->threads[SILENT]), 0, NULL);
    assert_goes_over(event_cursor_from(thread, 1), 2, (uint64_t[]){20, 30});
    assert_goes_over(event_cursor_from(thread, 3), 0, NULL);
    assert_goes_over(event_cursor_between(thread, 1, 2), 1, (uint64_t[]){20});
    assert_goes_over(event_cursor_between(thread, 1, 1), 0, NULL);
    assert_goes_over(event_cursor_between(thread, 1, 9), 2, (uint64_t[]){20, 30});
    trace_free(trace);
}

static void it_skips_within_its_thread(void **state) {
    (void)state;
    struct trace *trace = three_threads();
    struct event_cursor at = event_cursor_of_run(trace);
    assert_true(event_cursor_next(&at));
    event_cursor_skip(&at, 1);
    assert_true(event_cursor_next(&at));
    assert_int_equal(at.event->start_ns, 30);
    event_cursor_skip(&at, 2);
    assert_true(event_cursor_next(&at));
    assert_int_equal(at.event->start_ns, 15);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_over_the_run_thread_by_thread),
        cmocka_unit_test(it_goes_over_one_thread_or_a_part_of_it),
        cmocka_unit_test(it_skips_within_its_thread),
    };
    return cmocka_run_group_tests_name("event cursor", tests, NULL, NULL);
}
