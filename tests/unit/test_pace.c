/* base/pace: how fast the cores compute while something else runs on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <time.h>

#include "host/pace.h"

static void let_it_look(void) {
    const struct timespec looks = {.tv_nsec = 250000000};
    nanosleep(&looks, NULL);
}

static void the_mean_is_no_faster_than_the_fastest(void **state) {
    (void)state;
    for (int n_cores = 1; n_cores <= 2; n_cores++)
        for (int i = 0; i < 2; i++) {
            struct pace *pace = pace_start(n_cores);
            assert_non_null(pace);
            let_it_look();
            struct pace_reading reading = pace_stop(pace);
            double slowdown = pace_slowdown(reading, n_cores);
            assert_true(isfinite(slowdown) && slowdown >= 1);
            for (int kind = 0; kind < PACE_KINDS; kind++)
                assert_true(reading.fastest_ns[kind] > 0 &&
                            reading.piece_ns[kind] >= reading.fastest_ns[kind]);
        }
}

static void two_may_watch_at_once(void **state) {
    (void)state;
    struct pace *one = pace_start(1), *all = pace_start(1000);
    assert_non_null(one);
    assert_non_null(all);
    let_it_look();
    assert_true(pace_slowdown(pace_stop(one), 1) >= 1);
    assert_true(pace_slowdown(pace_stop(all), 1000) >= 1);
}

static void there_is_nothing_to_watch_without_cores(void **state) {
    (void)state;
    assert_null(pace_start(0));
    struct pace_reading nothing = pace_stop(NULL);
    assert_true(nothing.piece_ns[PACE_COMPUTING] == 0 && nothing.fastest_ns[PACE_MEMORY] == 0);
    assert_true(pace_slowdown(nothing, 0) == 0 && pace_slowdown(nothing, 77) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_no_faster_than_the_fastest),
        cmocka_unit_test(two_may_watch_at_once),
        cmocka_unit_test(there_is_nothing_to_watch_without_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
