/* cli/validation/measurement and cli/validation/drift: what others took of a run, and runs at the
 * speed of the recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "cli/validation/drift.h"

#define S 1000000000u

static bool is_near(double value, double right) {
    return fabs(value / right - 1) < 1e-6;
}

/* ---- without others ---- */

static struct range own(uint64_t run_ns, uint64_t cpu_ns, uint64_t foreign_ns, double delay_ns) {
    const struct program_run run = {
        .run_ns = run_ns, .cpu_ns = cpu_ns, .foreign_ns = foreign_ns, .delay_ns = delay_ns};
    return own_run_ns(&run, 2);
}

/* One thread beside a busy second core: others had half of the cores, and it lost nothing. */
static void what_others_had_of_an_idle_core_is_not_taken_off(void **state) {
    (void)state;
    struct range time = own(10 * (uint64_t)S, 10 * (uint64_t)S, 10 * (uint64_t)S, 0);
    assert_true(time.value == 10.0 * S && time.low == 10.0 * S && time.high == 10.0 * S);
    time = own(10 * (uint64_t)S, S, 15 * (uint64_t)S, 0.0); /* one that sleeps */
    assert_true(time.value == 10.0 * S && time.low == 10.0 * S);
}

/* Two threads on two cores of which others had one for a while: one of them waited. If it was
 * the one that ended last, all of that is the others' doing, if not, nothing. */
static void what_threads_waited_for_a_core_is_taken_off_as_far_as_others_had_it(void **state) {
    (void)state;
    struct range time = own(10 * (uint64_t)S, 12 * (uint64_t)S, 4 * (uint64_t)S, 4.0 * S);
    assert_true(is_near(time.value, 7.5 * S) && is_near(time.low, 6.0 * S)); /* 1.6 wanted one */
    assert_true(time.high == 10.0 * S);
    /* its own threads waited for each other's cores: others had less */
    time = own(10 * (uint64_t)S, 16 * (uint64_t)S, 2 * (uint64_t)S, 60.0 * S);
    assert_true(is_near(time.value, (10 - 2 / 1.8) * S) && is_near(time.low, 8.0 * S));
}

/* Nobody else could go on meanwhile. */
static void what_the_only_thread_waited_for_is_taken_off_whole(void **state) {
    (void)state;
    struct range time = own(10 * (uint64_t)S, 7 * (uint64_t)S, 9 * (uint64_t)S, 3.0 * S);
    assert_true(is_near(time.value, 7.0 * S) && is_near(time.low, 7.0 * S));
}

static void no_run_gets_shorter_than_its_longest_thread(void **state) {
    (void)state;
    struct program_run run = {.run_ns = 10 * (uint64_t)S,
                              .cpu_ns = 11 * (uint64_t)S,
                              .foreign_ns = 8 * (uint64_t)S,
                              .delay_ns = 8.0 * S,
                              .longest_cpu_ns = 9 * (uint64_t)S};
    struct range time = own_run_ns(&run, 2);
    assert_true(is_near(time.value, 9.0 * S) && is_near(time.low, 9.0 * S));
    run.longest_cpu_ns = 0; /* nor than its CPU time on all cores */
    run.cpu_ns = 14 * (uint64_t)S;
    assert_true(is_near(own_run_ns(&run, 2).value, 7.0 * S));
}

static void what_the_host_took_was_wanted(void **state) {
    (void)state;
    const struct program_run run = {.run_ns = 10 * (uint64_t)S,
                                    .cpu_ns = 8 * (uint64_t)S,
                                    .foreign_ns = 2 * (uint64_t)S,
                                    .stolen_ns = 2 * (uint64_t)S};
    assert_true(is_near(own_run_ns(&run, 1).value, 8.0 * S));
}

static void where_the_waiting_is_not_known_there_is_only_a_range(void **state) {
    (void)state;
    struct range time = own(10 * (uint64_t)S, 8 * (uint64_t)S, 2 * (uint64_t)S, -1);
    assert_true(isnan(time.value) && is_near(time.low, 8.0 * S) && time.high == 10.0 * S);
}

/* ---- at equal speed ---- */

/* Recorded with 2 threads on 2 cores, where it took 1.8 s of CPU time. */
static const struct reference reference = {
    .threads = "2", .cores = 2, .cpu_ns = 1.8 * S, .spread = 0.02};

static void add(struct measurements *measurements, const char *threads, int cores, double run_s,
                double used_cores) {
    const struct program_run run = {.run_ns = (uint64_t)(run_s * S),
                                    .cpu_ns = (uint64_t)(run_s * used_cores * S),
                                    .delay_ns = 0};
    measurements_add(measurements, threads, cores, false, &run);
}

/* Rounds of the recorded configuration, which takes 1 s when nothing slows it, and of another one,
 * each slowed by so much. */
static struct measurements rounds(const double *slowed, size_t n, double other_s) {
    struct measurements measurements = {0};
    for (size_t i = 0; i < n; i++) {
        add(&measurements, "2", 2, slowed[i], 1.8);
        add(&measurements, "1", 1, other_s * slowed[i], 1);
    }
    return measurements;
}

static double converted_s(const struct measurements *measurements, size_t which) {
    return drift_equal_speed_ns(measurements, &measurements->items[which], &reference).value / S;
}

static void what_slows_the_recorded_configuration_is_taken_off_the_others(void **state) {
    (void)state;
    const double slowed[] = {1.3, 1.3, 1.3, 1.3};
    struct measurements measurements = rounds(slowed, 4, 2);
    assert_true(is_near(drift_of(&measurements, &reference), 1.3));
    assert_true(fabs(converted_s(&measurements, 0) - 1) < 0.011); /* the recording's spread */
    assert_true(fabs(converted_s(&measurements, 1) - 2) < 0.021);
    struct range range = drift_equal_speed_ns(&measurements, &measurements.items[1], &reference);
    assert_true(range.low <= 2.0 * S && range.high >= 2.0 * S);
    measurements_free(&measurements);
}

static void a_run_is_compared_with_its_neighbours_in_time(void **state) {
    (void)state;
    const double slowed[] = {1, 1.5, 1, 1.2, 1};
    struct measurements measurements = {0};
    for (int i = 0; i < 5; i++) {
        add(&measurements, "2", 2, slowed[i], 1.8);
        add(&measurements, "1", 1, 2 * slowed[i], 1);
        add(&measurements, "2", 2, slowed[i], 1.8);
    }
    assert_true(is_near(converted_s(&measurements, 1), 2));
    assert_true(drift_squares(&measurements, &measurements.items[1], &reference) < 1e-9);
    measurements_free(&measurements);
}

/* Were the model 15 % too fast with one thread, that would show in the run as in these. */
static void what_a_configuration_does_to_itself_stays(void **state) {
    (void)state;
    const double slowed[] = {1, 1, 1};
    struct measurements measurements = rounds(slowed, 3, 2 * 1.15);
    assert_true(is_near(converted_s(&measurements, 1), 2 * 1.15));
    measurements_free(&measurements);
}

static void what_the_recordings_own_runs_differ_by_is_no_drift(void **state) {
    (void)state;
    const double slowed[] = {1.009, 1.009, 1.009};
    struct measurements measurements = rounds(slowed, 3, 2);
    assert_true(is_near(converted_s(&measurements, 1), 2 * 1.009));
    measurements_free(&measurements);
}

static void whoever_sleeps_is_slowed_as_far_as_it_computes(void **state) {
    (void)state;
    struct measurements measurements = {0};
    for (int i = 0; i < 3; i++) {
        add(&measurements, "2", 2, 1.5, 1.8);
        add(&measurements, "1", 1, 2, 0.01);
    }
    assert_true(fabs(converted_s(&measurements, 1) - 2) < 0.02);
    measurements_free(&measurements);
}

static void of_a_single_run_there_is_only_a_range(void **state) {
    (void)state;
    const double slowed[] = {1.3};
    struct measurements measurements = rounds(slowed, 1, 2);
    struct range range = drift_equal_speed_ns(&measurements, &measurements.items[1], &reference);
    assert_true(isnan(range.value) && range.low < 2.01 * S && range.high >= 2.6 * S - 1);
    measurements_free(&measurements);
}

static void without_the_recorded_configuration_nothing_is_known(void **state) {
    (void)state;
    struct measurements measurements = {0};
    add(&measurements, "1", 1, 2, 1);
    add(&measurements, "1", 1, 2, 1);
    struct range range = drift_equal_speed_ns(&measurements, &measurements.items[0], &reference);
    assert_true(isnan(range.value) && isnan(range.low) && isnan(range.high));
    assert_true(isnan(drift_of(&measurements, &reference)));
    measurements_free(&measurements);
}

static void without_a_recorded_time_only_the_drift_among_the_runs_is_taken_off(void **state) {
    (void)state;
    const double slowed[] = {1, 1.5, 2};
    struct measurements measurements = rounds(slowed, 3, 2);
    const struct reference unknown = {.threads = "2", .cores = 2};
    struct range range = drift_equal_speed_ns(&measurements, &measurements.items[1], &unknown);
    assert_true(range.value > 2.5 * S && range.value < 3.5 * S);
    assert_true(isnan(drift_of(&measurements, &unknown)));
    measurements_free(&measurements);
}

/* With one core, where its threads cannot cost each other anything, it takes what it took. */
static void where_one_core_drifts_otherwise_there_is_only_a_range(void **state) {
    (void)state;
    struct reference both = reference;
    both.one_core_cpu_ns = 1.8 * S;
    struct measurements measurements = {0};
    for (int i = 0; i < 3; i++) {
        add(&measurements, "2", 2, 1.25, 1.8);
        add(&measurements, "2", 1, 1.8, 1);
        add(&measurements, "4", 2, 1.25, 1.8);
    }
    assert_true(is_near(drift_of(&measurements, &both), 1.25));
    assert_true(is_near(drift_of_one_core(&measurements, &both), 1));
    assert_false(drifts_agree(&measurements, &both));
    struct range range = drift_equal_speed_ns(&measurements, &measurements.items[2], &both);
    assert_true(isnan(range.value) && range.low < 1.03 * S && range.high > 1.24 * S);
    assert_true(drift_squares(&measurements, &measurements.items[2], &both) == 0);
    both.one_core_cpu_ns = 1.45 * S; /* it takes a quarter more, too */
    assert_true(drifts_agree(&measurements, &both));
    range = drift_equal_speed_ns(&measurements, &measurements.items[2], &both);
    assert_true(range.value > 0.97 * S && range.value < 1.03 * S);
    measurements_free(&measurements);
}

/* Another program, or other arguments. */
static void a_drift_that_no_machine_has_is_other_work(void **state) {
    (void)state;
    const double slowed[] = {3, 3, 3};
    struct measurements measurements = rounds(slowed, 3, 2);
    assert_true(isnan(converted_s(&measurements, 1)));
    assert_false(drift_is_possible(drift_of(&measurements, &reference)));
    assert_true(drift_is_possible(1.3) && drift_is_possible(NAN));
    measurements_free(&measurements);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_had_of_an_idle_core_is_not_taken_off),
        cmocka_unit_test(what_threads_waited_for_a_core_is_taken_off_as_far_as_others_had_it),
        cmocka_unit_test(what_the_only_thread_waited_for_is_taken_off_whole),
        cmocka_unit_test(no_run_gets_shorter_than_its_longest_thread),
        cmocka_unit_test(what_the_host_took_was_wanted),
        cmocka_unit_test(where_the_waiting_is_not_known_there_is_only_a_range),
        cmocka_unit_test(what_slows_the_recorded_configuration_is_taken_off_the_others),
        cmocka_unit_test(a_run_is_compared_with_its_neighbours_in_time),
        cmocka_unit_test(what_a_configuration_does_to_itself_stays),
        cmocka_unit_test(what_the_recordings_own_runs_differ_by_is_no_drift),
        cmocka_unit_test(whoever_sleeps_is_slowed_as_far_as_it_computes),
        cmocka_unit_test(of_a_single_run_there_is_only_a_range),
        cmocka_unit_test(without_the_recorded_configuration_nothing_is_known),
        cmocka_unit_test(without_a_recorded_time_only_the_drift_among_the_runs_is_taken_off),
        cmocka_unit_test(where_one_core_drifts_otherwise_there_is_only_a_range),
        cmocka_unit_test(a_drift_that_no_machine_has_is_other_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
