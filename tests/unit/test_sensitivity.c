/* base/sensitivity and formats/recorded_speed: runs on cores that others slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "formats/recorded_speed.h"
#include "host/sensitivity.h"

#define MS 1000000

static struct sensitivity find(const struct slowed_run *added, size_t n, double share) {
    struct slowed_runs runs = {0};
    sensitivity_add(&runs, added, n);
    struct sensitivity sensitivity = sensitivity_of(&runs, share);
    free(runs.items);
    return sensitivity;
}

static bool is_near(struct sensitivity sensitivity, double computing, double memory, double by) {
    return fabs(sensitivity.power[PACE_COMPUTING] - computing) < by &&
           fabs(sensitivity.power[PACE_MEMORY] - memory) < by;
}

static void runs_that_agree_tell_it(void **state) {
    (void)state;
    const double pieces[][PACE_KINDS] = {{1, 1}, {1.25, 1}, {1.5, 1.1}, {1.1, 1.3}, {1.2, 1.4}};
    struct slowed_run square[5], constant[5];
    for (int i = 0; i < 5; i++) {
        double product = pieces[i][0] * pieces[i][0] * pieces[i][1];
        square[i] = (struct slowed_run){{pieces[i][0], pieces[i][1]}, 4 * product};
        constant[i] = (struct slowed_run){{pieces[i][0], pieces[i][1]}, 7};
    }
    assert_true(is_near(find(square, 5, 1), 2, 1, 0.01));
    assert_true(is_near(find(constant, 5, 1), 0, 0, 0.01));
}

static void the_usual_counts_where_they_do_not_tell(void **state) {
    (void)state;
    const struct slowed_run same[] = {{{2, 3}, 5}, {{2, 3}, 5.2}, {{2, 3}, 5.1}, {{2, 3}, 4.9}};
    assert_true(is_near(find(same, 4, 0.5), 0.5, 0.15, 1e-9));
    const struct slowed_run one[] = {{{2, 3}, 5}};
    assert_true(is_near(find(one, 1, 1), 1, 0.3, 1e-9));
    assert_true(is_near(find(NULL, 0, 1), 1, 0.3, 1e-9));
    /* times that differ anyhow say little where the cores hardly do, and more where they do */
    struct slowed_run unsure[8], sure[8];
    for (int i = 0; i < 8; i++) {
        double time = i % 4 < 2 ? 5 : 5.2;
        unsure[i] = (struct slowed_run){{i % 2 ? 1.01 : 1, 1}, time};
        sure[i] = (struct slowed_run){{i % 2 ? 1.5 : 1, 1}, time};
    }
    assert_true(is_near(find(unsure, 8, 1), 1, 0.3, 0.2));
    assert_true(is_near(find(sure, 8, 1), 0, 0.3, 0.1));
}

/* Two are too few to tell by how much single runs differ: that is supposed. */
static void few_runs_count_as_far_as_the_cores_speed_differs(void **state) {
    (void)state;
    const struct slowed_run much[] = {{{1, 1}, 5}, {{1.5, 1}, 5}},
                            little[] = {{{1, 1}, 5}, {{1.01, 1}, 5}};
    assert_true(is_near(find(much, 2, 1), 0, 0.3, 0.05));
    assert_true(is_near(find(little, 2, 1), 1, 0.3, 0.05));
}

/* Four times as much work in one of them. */
static void each_configuration_has_a_time_of_its_own(void **state) {
    (void)state;
    const struct slowed_run slow[] = {{{1.5, 1}, 12}, {{1.2, 1}, 9.6}, {{1.2, 1}, 9.6}},
                            fast[] = {{{1, 1}, 2}, {{1.1, 1}, 2.2}, {{1.1, 1}, 2.2}};
    struct slowed_runs runs = {0};
    sensitivity_add(&runs, slow, 3);
    sensitivity_add(&runs, fast, 3);
    sensitivity_add(&runs, fast, 0);
    assert_true(runs.configurations == 2);
    assert_true(fabs(sensitivity_of(&runs, 0.5).power[PACE_COMPUTING] - 1) < 0.01);
    free(runs.items);
}

static void times_are_converted_by_their_powers(void **state) {
    (void)state;
    const double fast[] = {1, 1}, slow[] = {2, 3};
    assert_true(sensitivity_convert(3, fast, slow, (struct sensitivity){{1, 0}}) == 6);
    assert_true(sensitivity_convert(3, fast, slow, (struct sensitivity){{2, 1}}) == 36);
    assert_true(sensitivity_convert(36, slow, fast, (struct sensitivity){{2, 1}}) == 3);
    assert_true(sensitivity_convert(3, fast, slow, (struct sensitivity){{0, 0}}) == 3);
}

static void runs_of_a_recording_are_compared_at_the_usual_speed(void **state) {
    (void)state;
    /* the traced run was the slowest one, by the cores alone */
    struct trace_plain_run plain[] = {{100 * MS, 200 * MS, {1, 2}}, {120 * MS, 240 * MS, {1.2, 2}}};
    struct trace_meta meta = {.run_ns = 150 * MS,
                              .cpu_ns = 300 * MS,
                              .pace = {{1.5, 2}, {0.9, 1.9}},
                              .untraced_run_ns = 110 * MS,
                              .n_untraced = 2,
                              .untraced = plain};
    struct pace_reading pace = recorded_pace(&meta);
    assert_true(pace.piece_ns[PACE_COMPUTING] == 1.2 && pace.fastest_ns[PACE_MEMORY] == 1.9);
    assert_true(fabs(recorded_slowed_share(&meta) - 0.25) < 1e-9);
    assert_true(fabs(recorded_untraced_ns(&meta) - 120 * MS) < 1);
    assert_true(fabs(recorded_perturbation(&meta)) < 1e-9);
    struct usual_speed usual = recorded_cpu_speed(&meta);
    assert_true(fabs(recorded_at_usual_speed(&usual, 300 * MS, meta.pace.piece_ns) - 240 * MS) < 1);
    plain[1].piece_ns[PACE_COMPUTING] = 0; /* of one it is not known */
    assert_true(recorded_pace(&meta).piece_ns[PACE_COMPUTING] == 0);
    assert_true(recorded_slowed_share(&meta) == 0);
    assert_true(recorded_untraced_ns(&meta) == 110 * MS);
    usual = recorded_cpu_speed(&meta);
    assert_true(recorded_at_usual_speed(&usual, 300 * MS, meta.pace.piece_ns) == 300 * MS);
}

/* The program does not mind what slowed the pieces of work: say, its own threads did. */
static void the_traced_run_tells_what_the_program_minds(void **state) {
    (void)state;
    struct trace_plain_run plain[] = {{100 * MS, 200 * MS, {1, 2}}};
    struct trace_meta meta = {.run_ns = 101 * MS,
                              .cpu_ns = 202 * MS,
                              .pace = {{1.4, 2}, {1, 2}},
                              .n_untraced = 1,
                              .untraced = plain};
    assert_true(fabs(recorded_perturbation(&meta) - 0.01) < 0.02);
    struct usual_speed usual = recorded_cpu_speed(&meta);
    const double alone[PACE_KINDS] = {1, 2};
    assert_true(fabs(recorded_at_usual_speed(&usual, 200 * MS, alone) - 200 * MS) < 4 * MS);
    meta.records = 1000; /* its probes took a tenth of it */
    meta.probe_ns = 20000;
    usual = recorded_cpu_speed(&meta);
    assert_true(fabs(usual.sensitivity.power[PACE_COMPUTING] - 1) < 1e-9);
}

/* It computes for a tenth of its time: a core half as fast makes that a tenth longer. */
static void whoever_sleeps_does_not_mind(void **state) {
    (void)state;
    struct trace_plain_run plain[] = {{100 * MS, 10 * MS, {1, 1}}, {100 * MS, 10 * MS, {1, 1}}};
    struct trace_meta meta = {
        .run_ns = 107 * MS, .pace = {{2, 1}, {1, 1}}, .n_untraced = 2, .untraced = plain};
    assert_true(fabs(recorded_perturbation(&meta)) < 0.01);
}

static void recordings_without_speeds_are_taken_as_they_are(void **state) {
    (void)state;
    struct trace_plain_run plain[] = {{.cpu_ns = 200 * MS}};
    struct trace_meta meta = {
        .run_ns = 150 * MS, .untraced_run_ns = 120 * MS, .n_untraced = 1, .untraced = plain};
    assert_true(recorded_pace(&meta).piece_ns[PACE_COMPUTING] == 0);
    assert_true(recorded_untraced_ns(&meta) == 120 * MS);
    assert_true(fabs(recorded_perturbation(&meta) - 0.25) < 1e-12);
    meta = (struct trace_meta){.run_ns = 150 * MS};
    assert_true(isnan(recorded_perturbation(&meta)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_agree_tell_it),
        cmocka_unit_test(the_usual_counts_where_they_do_not_tell),
        cmocka_unit_test(few_runs_count_as_far_as_the_cores_speed_differs),
        cmocka_unit_test(each_configuration_has_a_time_of_its_own),
        cmocka_unit_test(times_are_converted_by_their_powers),
        cmocka_unit_test(runs_of_a_recording_are_compared_at_the_usual_speed),
        cmocka_unit_test(the_traced_run_tells_what_the_program_minds),
        cmocka_unit_test(whoever_sleeps_does_not_mind),
        cmocka_unit_test(recordings_without_speeds_are_taken_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
