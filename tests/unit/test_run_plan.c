/* How many runs a recording is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracer/run_plan.h"

#define MS 1000000u

static bool is_unclear(uint64_t sampled_run, uint64_t sampled_cpu, uint64_t traced_run,
                       uint64_t traced_cpu) {
    struct trace_plain_run sampled = {sampled_run * MS, sampled_cpu * MS, {0}};
    struct trace_plain_run traced = {traced_run * MS, traced_cpu * MS, {0}};
    return run_plan_is_unclear(&sampled, &traced);
}

static void runs_that_agree_leave_nothing_open(void **state) {
    (void)state;
    assert_false(is_unclear(1000, 1900, 1000, 1900));
    assert_false(is_unclear(1000, 1900, 1040, 1980));
    assert_false(is_unclear(1040, 1980, 1000, 1900));
}

static void runs_that_differ_want_a_plain_one(void **state) {
    (void)state;
    assert_true(is_unclear(1000, 1900, 1100, 1900));
    assert_true(is_unclear(1100, 1900, 1000, 1900));
    assert_true(is_unclear(1000, 1900, 1000, 2100));
}

static void cpu_time_of_those_that_mostly_sleep_matters_little(void **state) {
    (void)state;
    assert_false(is_unclear(1000, 10, 1000, 20));
}

static void one_core_runs_are_for_who_keeps_several_busy(void **state) {
    (void)state;
    const struct tracer_options usual = {.plain_runs = PLAIN_RUNS_IF_UNCLEAR};
    const struct tracer_options thorough = {.plain_runs = PLAIN_RUNS_ENOUGH};
    const struct tracer_options two = {.plain_runs = 2};
    const struct trace_plain_run busy = {.run_ns = 1000 * MS, .cpu_ns = 1900 * MS};
    const struct trace_plain_run one_core = {.run_ns = 1000 * MS, .cpu_ns = 1000 * MS};
    const struct trace_plain_run longest = {.run_ns = 13000u * (uint64_t)MS,
                                            .cpu_ns = 26000u * (uint64_t)MS};
    assert_int_equal(run_plan_one_core(&usual, &busy), 1);
    assert_int_equal(run_plan_one_core(&usual, &one_core), 0);
    assert_int_equal(run_plan_one_core(&usual, &longest), 0);
    assert_int_equal(run_plan_one_core(&thorough, &one_core), 2);
    assert_int_equal(run_plan_one_core(&two, &busy), 0);
}

static void as_many_runs_are_expected_as_the_level_makes(void **state) {
    (void)state;
    struct run_end first = {.known = true};
    struct tracer_options usual = {.first = &first, .plain_runs = PLAIN_RUNS_IF_UNCLEAR};
    assert_int_equal(run_plan_expected(&usual, 1.7e9), 4);
    assert_int_equal(run_plan_expected(&usual, 0), 4);
    struct tracer_options once = {.plain_runs = 0};
    assert_int_equal(run_plan_expected(&once, 0), 1);
    struct tracer_options thorough = {
        .first = &first, .plain_runs = PLAIN_RUNS_ENOUGH, .evictions = true};
    assert_int_equal(run_plan_expected(&thorough, 1.7e9), 14);
    assert_int_equal(run_plan_expected(&thorough, 60e9), 1 + 2 + 1 + 1);
    assert_int_equal(run_plan_expected(&thorough, 0.01e9), 1 + 5 + 1 + 2);
    assert_int_equal(run_plan_expected(&thorough, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_agree_leave_nothing_open),
        cmocka_unit_test(runs_that_differ_want_a_plain_one),
        cmocka_unit_test(cpu_time_of_those_that_mostly_sleep_matters_little),
        cmocka_unit_test(one_core_runs_are_for_who_keeps_several_busy),
        cmocka_unit_test(as_many_runs_are_expected_as_the_level_makes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
