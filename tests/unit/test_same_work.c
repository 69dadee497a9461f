/* tracer/same_work: runs that did other work tell nothing of the traced one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/trace_builder.h"
#include "tracer/same_work.h"

#define MS 1000000u

static const struct work traced = {
    .run_ns = 1000 * MS,
    .cpu_ns = 1600 * MS,
    .probes_ns = 100 * MS,
    .n_threads = 9,
    .calls = {[API_pthread_mutex_lock] = 1000, [API_pthread_cond_wait] = 400},
};

static void equal_times_are_the_same_work_with_or_without_the_probes_share(void **state) {
    (void)state;
    assert_true(same_work_by_time(&traced, 1000 * MS, 1600 * MS));
    assert_true(same_work_by_time(&traced, 900 * MS, 1500 * MS));
    assert_true(same_work_by_time(&traced, 700 * MS, 900 * MS)); /* faster cores */
    assert_true(
        same_work_by_time(&traced, 3000 * MS, 2400 * MS)); /* slower ones that others have */
}

static void far_less_or_more_is_other_work(void **state) {
    (void)state;
    assert_false(same_work_by_time(&traced, 900 * MS, 500 * MS));
    assert_false(same_work_by_time(&traced, 900 * MS, 4000 * MS));
    assert_false(same_work_by_time(&traced, 2 * MS, 1 * MS));
    assert_false(same_work_by_time(&traced, 100 * MS, 1600 * MS)); /* did not wait */
}

static void probes_that_took_nearly_all_may_be_missing(void **state) {
    (void)state;
    struct work busy = traced;
    busy.probes_ns = 1500 * MS;
    assert_true(same_work_by_time(&busy, 200 * MS, 200 * MS));
}

static void waiting_for_others_is_not_work(void **state) {
    (void)state;
    struct work slowed = traced;
    slowed.run_ns = 9000 * MS;
    slowed.ready_ns = 8000 * MS;
    assert_true(same_work_by_time(&slowed, 900 * MS, 1500 * MS));
}

static void what_takes_no_time_is_not_told_apart(void **state) {
    (void)state;
    const struct work none = {.run_ns = 2 * MS, .cpu_ns = 2 * MS, .n_threads = 1};
    assert_true(same_work_by_time(&none, 9 * MS, 9 * MS));
}

static void threads_and_calls_are_compared(void **state) {
    (void)state;
    char text[128];
    struct work other = traced;
    assert_true(same_work_by_calls(&traced, &other, text, sizeof text));
    other.n_threads = 8; /* one of nine may come too late */
    assert_true(same_work_by_calls(&traced, &other, text, sizeof text));
    other.n_threads = 5;
    assert_false(same_work_by_calls(&traced, &other, text, sizeof text));
    assert_string_equal(text, "5 threads, not 9");
    other = traced;
    other.calls[API_pthread_mutex_lock] = 400;
    assert_false(same_work_by_calls(&traced, &other, text, sizeof text));
    assert_string_equal(text, "400 calls of pthread_mutex_lock, not 1000");
}

static void waits_may_be_as_many_as_they_are(void **state) {
    (void)state;
    char text[128];
    struct work other = traced;
    other.calls[API_pthread_cond_wait] = 0;
    assert_true(same_work_by_calls(&traced, &other, text, sizeof text));
}

static struct trace *with_plain_runs(const uint64_t *cpu_ms, size_t n) {
    struct trace *trace = builder_new(2);
    for (size_t i = 0; i < n; i++)
        builder_plain_run(trace, cpu_ms[i] * MS, cpu_ms[i] * MS);
    return trace;
}

static void plain_runs_that_differ_are_taken_out_and_said(void **state) {
    (void)state;
    static const uint64_t cpu_ms[] = {1500, 3, 1400, 1600};
    struct trace *trace = with_plain_runs(cpu_ms, 4);
    same_work_of_plain_runs(trace, &traced);
    assert_int_equal(trace->meta.n_untraced, 3);
    assert_int_equal(trace->meta.untraced_run_ns, 1500 * MS);
    assert_int_equal(trace->meta.untraced_spread_ns, 200 * MS);
    assert_int_equal(trace->meta.n_lacks, 1);
    assert_non_null(strstr(trace->meta.lacks[0], "1 of 4 runs did other work"));
    trace_free(trace);
}

static void without_equal_plain_runs_nothing_is_measured(void **state) {
    (void)state;
    static const uint64_t cpu_ms[] = {3};
    struct trace *trace = with_plain_runs(cpu_ms, 1);
    same_work_of_plain_runs(trace, &traced);
    assert_int_equal(trace->meta.n_untraced, 0);
    assert_int_equal(trace->meta.untraced_run_ns, 0);
    trace_free(trace);
}

static size_t said_of_first(size_t threads, bool is_served) {
    struct trace *trace = builder_new(2);
    const struct run_end first = {
        .known = true, .n_threads = threads, .run_ns = traced.run_ns, .cpu_ns = traced.cpu_ns};
    same_work_of_first(trace, &traced, &first, is_served);
    size_t said = trace->meta.n_lacks;
    trace_free(trace);
    return said;
}

static void a_server_has_as_many_threads_as_its_load_wants(void **state) {
    (void)state;
    assert_int_equal(said_of_first(9, false), 0);
    assert_int_equal(said_of_first(5, false), 1);
    assert_int_equal(said_of_first(5, true), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_times_are_the_same_work_with_or_without_the_probes_share),
        cmocka_unit_test(far_less_or_more_is_other_work),
        cmocka_unit_test(probes_that_took_nearly_all_may_be_missing),
        cmocka_unit_test(waiting_for_others_is_not_work),
        cmocka_unit_test(what_takes_no_time_is_not_told_apart),
        cmocka_unit_test(threads_and_calls_are_compared),
        cmocka_unit_test(waits_may_be_as_many_as_they_are),
        cmocka_unit_test(plain_runs_that_differ_are_taken_out_and_said),
        cmocka_unit_test(a_server_has_as_many_threads_as_its_load_wants),
        cmocka_unit_test(without_equal_plain_runs_nothing_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
