/* base/sensitivity and formats/recorded_speed: runs on cores that others slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/memory.h"
#include "base/sensitivity.h"
#include "formats/recorded_speed.h"

#define MS 1000000

static double find(const double *slowdowns, const double *times, size_t n, double usual) {
    struct slowed_runs runs = {0};
    sensitivity_add(&runs, slowdowns, times, n);
    double sensitivity = sensitivity_of(&runs, usual);
    sensitivity_free(&runs);
    return sensitivity;
}

static void runs_that_agree_tell_it(void **state) {
    (void)state;
    const double slowdowns[] = {1, 1.25, 1.5, 1.1}, squares[] = {4, 6.25, 9, 4.84};
    const double constant[] = {7, 7, 7, 7};
    assert_true(fabs(find(slowdowns, squares, 4, 1) - 2) < 1e-6);
    assert_true(fabs(find(slowdowns, constant, 4, 1)) < 1e-6);
}

static void the_usual_counts_where_they_do_not_tell(void **state) {
    (void)state;
    const double same[] = {1.25, 1.25, 1.25}, close[] = {1, 1.01, 1, 1.01},
                 far[] = {1, 1.5, 1, 1.5};
    const double times[] = {5, 5.2, 5.1, 4.9};
    assert_true(find(same, times, 3, 0.75) == 0.75);
    assert_true(find(close, times, 2, 0.75) == 0.75); /* as many means as runs, nearly */
    double unsure = find(close, times, 4, 1), sure = find(far, times, 4, 1);
    assert_true(fabs(unsure - 1) < 0.25);
    assert_true(fabs(sure) < 0.15);
    struct slowed_runs none = {0};
    assert_true(sensitivity_of(&none, 1) == 1);
}

/* Four times as much work in one of them. */
static void each_configuration_has_a_time_of_its_own(void **state) {
    (void)state;
    const double slow[] = {1.5, 1.2}, fast[] = {1, 1.1}, much[] = {12, 9.6}, little[] = {2, 2.2};
    struct slowed_runs runs = {0};
    sensitivity_add(&runs, slow, much, 2);
    sensitivity_add(&runs, fast, little, 2);
    sensitivity_add(&runs, fast, little, 0);
    assert_true(fabs(sensitivity_of(&runs, 0.5) - 1) < 1e-6);
    sensitivity_free(&runs);
}

static void times_are_converted_by_its_power(void **state) {
    (void)state;
    assert_true(sensitivity_convert(3, 1.5, 1, 1) == 2);
    assert_true(sensitivity_convert(3, 1, 2, 2) == 12);
    assert_true(sensitivity_convert(3, 1, 2, 0) == 3);
}

static void runs_of_a_recording_are_compared_at_the_usual_speed(void **state) {
    (void)state;
    /* the traced run was the slowest one, by the cores alone */
    struct trace_plain_run plain[] = {{100 * MS, 200 * MS, 1}, {120 * MS, 240 * MS, 1.2}};
    struct trace_meta meta = {.run_ns = 150 * MS,
                              .cpu_ns = 300 * MS,
                              .piece_ns = 1.5,
                              .untraced_run_ns = 110 * MS,
                              .n_untraced = 2,
                              .untraced = plain};
    assert_true(recorded_piece_ns(&meta) == 1.2);
    assert_true(fabs(recorded_untraced_ns(&meta) - 120 * MS) < 1);
    assert_true(fabs(recorded_perturbation(&meta)) < 1e-9);
    assert_true(fabs(recorded_cpu_at_usual_speed(&meta, 300 * MS, 1.5) - 240 * MS) < 1);
    plain[1].piece_ns = 0; /* of one it is not known */
    assert_true(recorded_piece_ns(&meta) == 0);
    assert_true(recorded_untraced_ns(&meta) == 110 * MS);
    assert_true(recorded_cpu_at_usual_speed(&meta, 300 * MS, 1.5) == 300 * MS);
}

/* It computes for a tenth of its time: a core half as fast makes that a tenth longer. */
static void whoever_sleeps_does_not_mind(void **state) {
    (void)state;
    struct trace_plain_run plain[] = {{100 * MS, 10 * MS, 1}, {100 * MS, 10 * MS, 1}};
    struct trace_meta meta = {
        .run_ns = 107 * MS, .piece_ns = 2, .n_untraced = 2, .untraced = plain};
    assert_true(fabs(recorded_perturbation(&meta)) < 0.01);
}

static void recordings_without_speeds_are_taken_as_they_are(void **state) {
    (void)state;
    struct trace_plain_run plain[] = {{.cpu_ns = 200 * MS}};
    struct trace_meta meta = {
        .run_ns = 150 * MS, .untraced_run_ns = 120 * MS, .n_untraced = 1, .untraced = plain};
    assert_true(recorded_piece_ns(&meta) == 0);
    assert_true(recorded_untraced_ns(&meta) == 120 * MS);
    assert_true(fabs(recorded_perturbation(&meta) - 0.25) < 1e-12);
    meta = (struct trace_meta){.run_ns = 150 * MS};
    assert_true(isnan(recorded_perturbation(&meta)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_agree_tell_it),
        cmocka_unit_test(the_usual_counts_where_they_do_not_tell),
        cmocka_unit_test(each_configuration_has_a_time_of_its_own),
        cmocka_unit_test(times_are_converted_by_its_power),
        cmocka_unit_test(runs_of_a_recording_are_compared_at_the_usual_speed),
        cmocka_unit_test(whoever_sleeps_does_not_mind),
        cmocka_unit_test(recordings_without_speeds_are_taken_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
