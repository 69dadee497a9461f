/* Creators that sleep and look until their threads are done. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/sleeping_polls.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKERS = 2, SLEEPS = 12, SLEEP_NS = 100, FIRST_NS = 50 };
enum { SLEPT_NS = FIRST_NS + SLEEPS * SLEEP_NS }; /* when the last sleep ends */

/* Main sleeps twelve times and joins its two threads, of which the last ended at `done_ns`. */
static struct trace *polling(uint64_t done_ns, int sleeps) {
    struct trace *trace = builder_new_with_workers(WORKERS);
    uint32_t at_sleep = builder_context(trace, "poll", 10, "main", 20);
    uint32_t at_join = builder_context(trace, "join", 30, "main", 40);
    uint64_t now = FIRST_NS + (uint64_t)(SLEEPS - sleeps) * SLEEP_NS;
    for (int i = 0; i < sleeps; i++, now += SLEEP_NS)
        builder_record(trace, MAIN, "nanosleep", now, SLEEP_NS, 0, at_sleep, 0);
    for (int w = 1; w <= WORKERS; w++)
        builder_join(trace, MAIN, now++, 0, at_join, w);
    builder_finish(trace, done_ns > now ? done_ns : now + 10);
    builder_life(trace, 1, 10, done_ns - 20);
    builder_life(trace, 2, 10, done_ns);
    return trace;
}

static void they_wait_for_the_ends(void **state) {
    (void)state;
    struct trace *trace = polling(SLEPT_NS - 30, SLEEPS);
    struct event_log log = event_log_of(trace);
    assert_int_equal(sleeping_polls_as_joins(&log), 1);
    assert_int_equal(log.trace.threads[MAIN].n_records, 3);
    const struct trace_record *join = shown_call(&log, MAIN, 0), *rest = shown_call(&log, MAIN, 2);
    assert_int_equal(join->api, API_pthread_join);
    assert_int_equal(join->start_ns, FIRST_NS);
    assert_int_equal(trace_end_ns(join), SLEPT_NS - 30);
    assert_true(join->flags & TRACE_WAITED);
    assert_int_equal(shown_call(&log, MAIN, 1)->api, API_pthread_join);
    assert_int_equal(rest->api, API_nanosleep);
    assert_int_equal(rest->start_ns, SLEPT_NS - 30);
    assert_int_equal(trace_end_ns(rest), SLEPT_NS);
    event_log_free(&log);
    trace_free(trace);
}

/* Main makes two threads that nobody joins and sleeps until a flag is set that each counts down. */
static struct trace *detached(uint64_t done_ns, uint64_t first_done_ns) {
    struct trace *trace = builder_new_with_workers(WORKERS);
    uint32_t at_sleep = builder_context(trace, "poll", 10, "main", 20);
    for (int i = 0; i < SLEEPS; i++)
        builder_record(trace, MAIN, "nanosleep", FIRST_NS + (uint64_t)i * SLEEP_NS, SLEEP_NS, 0,
                       at_sleep, 0);
    builder_finish(trace, SLEPT_NS + 2 * SLEEP_NS);
    builder_life(trace, 1, 10, first_done_ns);
    builder_life(trace, 2, 10, done_ns);
    for (int w = 1; w <= WORKERS; w++)
        trace->threads[w].end_seen = true;
    return trace;
}

static void detached_threads_are_waited_for_as_joined_ones(void **state) {
    (void)state;
    struct trace *trace = detached(SLEPT_NS - 30, SLEPT_NS - 2 * SLEEP_NS);
    struct event_log log = event_log_of(trace);
    assert_int_equal(sleeping_polls_as_joins(&log), 1);
    assert_int_equal(log.trace.threads[MAIN].n_records, WORKERS + 1);
    for (int w = 1; w <= WORKERS; w++) {
        const struct trace_record *join = shown_call(&log, MAIN, (size_t)w - 1);
        assert_int_equal(join->api, API_pthread_join);
        assert_int_equal(join->value, w);
        assert_int_equal(trace_end_ns(join), SLEPT_NS - 30);
    }
    assert_int_equal(shown_call(&log, MAIN, 0)->start_ns, FIRST_NS);
    assert_true(shown_call(&log, MAIN, 0)->flags & TRACE_WAITED);
    const struct trace_record *rest = shown_call(&log, MAIN, WORKERS);
    assert_int_equal(rest->api, API_nanosleep);
    assert_int_equal(trace_end_ns(rest), SLEPT_NS);
    event_log_free(&log);
    trace_free(trace);
}

static void assert_stays(struct trace *trace) {
    struct event_log log = event_log_of(trace);
    assert_int_equal(sleeping_polls_as_joins(&log), 0);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

/* Who sets a flag after its sleeps makes the threads end. */
static void threads_that_end_behind_the_sleeps_were_not_waited_for(void **state) {
    (void)state;
    assert_stays(polling(SLEPT_NS + 1, SLEEPS));
}

static void threads_that_ended_long_before_were_not_waited_for(void **state) {
    (void)state;
    assert_stays(polling(SLEPT_NS - SLEEP_NS - 1, SLEEPS));
}

static void detached_threads_of_which_one_lives_on_were_not_waited_for(void **state) {
    (void)state;
    assert_stays(detached(SLEPT_NS - 30, SLEPT_NS + 1));
}

static void detached_threads_that_another_thread_joins_were_not_waited_for(void **state) {
    (void)state;
    struct trace *trace = detached(SLEPT_NS - 30, SLEPT_NS - 2 * SLEEP_NS);
    uint32_t at_join = builder_context(trace, "join", 30, "worker", 40);
    builder_join(trace, 2, 100, 10, at_join, 1);
    assert_stays(trace);
}

static void few_sleeps_are_chance(void **state) {
    (void)state;
    assert_stays(polling(SLEPT_NS - 30, 7));
}

static void sleeps_from_several_places_are_no_polls(void **state) {
    (void)state;
    struct trace *trace = polling(SLEPT_NS - 30, SLEEPS);
    uint32_t other = builder_context(trace, "poll", 11, "main", 20);
    for (size_t r = 0; r < SLEEPS; r += 2)
        trace->threads[MAIN].records[r].context = other;
    assert_stays(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_wait_for_the_ends),
        cmocka_unit_test(threads_that_end_behind_the_sleeps_were_not_waited_for),
        cmocka_unit_test(threads_that_ended_long_before_were_not_waited_for),
        cmocka_unit_test(detached_threads_are_waited_for_as_joined_ones),
        cmocka_unit_test(detached_threads_of_which_one_lives_on_were_not_waited_for),
        cmocka_unit_test(detached_threads_that_another_thread_joins_were_not_waited_for),
        cmocka_unit_test(few_sleeps_are_chance),
        cmocka_unit_test(sleeps_from_several_places_are_no_polls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
