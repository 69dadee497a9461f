/* Threads that sleep and look until they are told to stop. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/sleeping_watchers.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, WATCHER, SLEEP_NS = 100, SLEEPS = 12, SLEPT_NS = SLEEPS * SLEEP_NS };

/* The watcher sleeps so often and ends; main joins the worker, then from `join_ns` on the watcher.
 */
static struct trace *watched(int sleeps, uint64_t join_ns) {
    struct trace *trace = builder_new(8);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "watch", MAIN);
    uint32_t at_sleep = builder_context(trace, "usleep", 10, "watch", 20);
    uint32_t at_join = builder_context(trace, "join", 30, "main", 40);
    uint64_t slept_ns = sleeps > SLEEPS ? (uint64_t)sleeps * SLEEP_NS : SLEPT_NS;
    uint64_t end_ns = slept_ns + 5, from_ns = slept_ns - (uint64_t)sleeps * SLEEP_NS;
    for (int i = 0; i < sleeps; i++)
        builder_record(trace, WATCHER, "usleep", from_ns + (uint64_t)i * SLEEP_NS, SLEEP_NS - 10, 0,
                       at_sleep, 0);
    builder_join(trace, MAIN, 1, join_ns - 2, at_join, WORKER);
    builder_join(trace, MAIN, join_ns, join_ns < end_ns ? end_ns - join_ns : 1, at_join, WATCHER);
    builder_finish(trace, end_ns + 10);
    builder_life(trace, WORKER, 0, join_ns - 1);
    builder_life(trace, WATCHER, 0, end_ns);
    return trace;
}

static void who_tells_it_to_stop_waits_for_the_rest_of_a_sleep(void **state) {
    (void)state;
    const uint64_t join_ns = SLEPT_NS - SLEEP_NS / 2;
    struct trace *trace = watched(SLEEPS, join_ns);
    struct event_log log = event_log_of(trace);
    assert_int_equal(sleeping_watchers_as_unjoined(&log), 1);
    assert_int_equal(shown_call(&log, MAIN, 0)->api, API_pthread_join);
    const struct trace_record *sleep = shown_call(&log, MAIN, 1);
    assert_int_equal(sleep->api, API_usleep);
    assert_int_equal(sleep->start_ns, join_ns);
    assert_int_equal(trace_end_ns(sleep), SLEPT_NS + 5);
    assert_int_equal(count_shown(&log, WATCHER, API_usleep), SLEEPS);
    event_log_free(&log);
    trace_free(trace);
}

/* It goes to sleep once more. */
static void it_may_be_told_while_it_looks(void **state) {
    (void)state;
    struct trace *trace = watched(SLEEPS, SLEPT_NS - SLEEP_NS - 5);
    struct event_log log = event_log_of(trace);
    assert_int_equal(sleeping_watchers_as_unjoined(&log), 1);
    event_log_free(&log);
    trace_free(trace);
}

/* It waits for something in between, asleep as well: so it may be told in any sleep of its last
 * round. */
static void it_may_sleep_in_several_places(void **state) {
    (void)state;
    for (uint64_t ago_ns = SLEEP_NS / 2; ago_ns < 3 * SLEEP_NS; ago_ns += SLEEP_NS) {
        struct trace *trace = watched(SLEEPS + 8, SLEPT_NS + 8 * SLEEP_NS - ago_ns);
        uint32_t other = builder_context(trace, "usleep", 50, "watch", 20);
        for (size_t r = 1; r < trace->threads[WATCHER].n_records; r += 2)
            trace->threads[WATCHER].records[r].context = other;
        struct event_log log = event_log_of(trace);
        assert_int_equal(sleeping_watchers_as_unjoined(&log), ago_ns < 2 * SLEEP_NS);
        event_log_free(&log);
        trace_free(trace);
    }
}

/* A last pause, once all is done. */
static void who_sleeps_elsewhere_at_last_is_waited_for(void **state) {
    (void)state;
    struct trace *trace = watched(SLEEPS, SLEPT_NS - SLEEP_NS / 2);
    uint32_t other = builder_context(trace, "usleep", 50, "watch", 20);
    trace->threads[WATCHER].records[trace->threads[WATCHER].n_records - 1].context = other;
    struct event_log log = event_log_of(trace);
    assert_int_equal(sleeping_watchers_as_unjoined(&log), 0);
    event_log_free(&log);
    trace_free(trace);
}

static void assert_stays(struct trace *trace) {
    struct event_log log = event_log_of(trace);
    assert_int_equal(sleeping_watchers_as_unjoined(&log), 0);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

static void a_thread_that_goes_on_sleeping_is_waited_for(void **state) {
    (void)state;
    assert_stays(watched(SLEEPS, SLEPT_NS - 3 * SLEEP_NS));
}

static void a_thread_that_had_ended_was_not_told(void **state) {
    (void)state;
    assert_stays(watched(SLEEPS, SLEPT_NS + 20));
}

static void few_sleeps_are_chance(void **state) {
    (void)state;
    assert_stays(watched(7, SLEPT_NS - SLEEP_NS / 2));
}

/* They share out work, and end at about the same time. */
static void threads_alike_are_waited_for(void **state) {
    (void)state;
    struct trace *trace = watched(SLEEPS, SLEPT_NS - SLEEP_NS / 2);
    builder_thread(trace, "watch", MAIN);
    assert_stays(trace);
}

/* Its sleeps stand for work that it gets. */
static void who_takes_work_is_waited_for(void **state) {
    (void)state;
    struct trace *trace = watched(SLEEPS, SLEPT_NS - SLEEP_NS / 2);
    builder_record(trace, WATCHER, "sem_wait", SLEPT_NS + 1, 0, 7, 0, 0);
    assert_stays(trace);
}

static void who_mostly_computes_is_waited_for(void **state) {
    (void)state;
    struct trace *trace = watched(SLEEPS, SLEPT_NS - SLEEP_NS / 2);
    for (size_t r = 0; r + 1 < SLEEPS; r++)
        trace->threads[WATCHER].records[r].duration_ns = SLEEP_NS / 3;
    assert_stays(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_tells_it_to_stop_waits_for_the_rest_of_a_sleep),
        cmocka_unit_test(it_may_be_told_while_it_looks),
        cmocka_unit_test(it_may_sleep_in_several_places),
        cmocka_unit_test(who_sleeps_elsewhere_at_last_is_waited_for),
        cmocka_unit_test(a_thread_that_goes_on_sleeping_is_waited_for),
        cmocka_unit_test(a_thread_that_had_ended_was_not_told),
        cmocka_unit_test(few_sleeps_are_chance),
        cmocka_unit_test(who_takes_work_is_waited_for),
        cmocka_unit_test(who_mostly_computes_is_waited_for),
        cmocka_unit_test(threads_alike_are_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
