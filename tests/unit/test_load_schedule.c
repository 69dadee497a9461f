/* load/schedule: when requests are to be sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/schedule.h"

#define S 1000000000.0

static uint64_t take(struct schedule *schedule) {
    uint64_t intended_ns;
    assert_true(schedule_next(schedule, &intended_ns));
    schedule_take(schedule);
    return intended_ns;
}

static void constant_gaps_add_up_without_drift(void **state) {
    (void)state;
    struct schedule_options options = {.arrivals = LOAD_CONSTANT, .rate_hz = 3};
    struct schedule *schedule = schedule_new(&options, NULL);
    for (int i = 1; i <= 3000000; i++)
        assert_true(fabs((double)take(schedule) - i * S / 3) < 10);
    schedule_free(schedule);
}

static void poisson_gaps_have_their_mean_and_are_exponential(void **state) {
    (void)state;
    enum { N = 100000 };
    struct schedule_options options = {.arrivals = LOAD_POISSON, .rate_hz = 1000, .seed = 5};
    struct schedule *schedule = schedule_new(&options, NULL);
    int beyond_mean = 0;
    uint64_t last = 0, next = 0;
    for (int i = 0; i < N; i++, last = next) {
        next = take(schedule);
        beyond_mean += (double)(next - last) > S / 1000;
    }
    assert_true(fabs((double)last / N / (S / 1000) - 1) < 5 / sqrt(N));
    double share = exp(-1);
    assert_true(fabs(beyond_mean - N * share) < 5 * sqrt(N * share * (1 - share)));
    schedule_free(schedule);
}

static void the_same_seed_gives_the_same_times(void **state) {
    (void)state;
    struct schedule_options options = {.arrivals = LOAD_POISSON, .rate_hz = 10, .seed = 5};
    struct schedule *one = schedule_new(&options, NULL), *two = schedule_new(&options, NULL);
    options.seed = 6;
    struct schedule *other = schedule_new(&options, NULL);
    uint64_t first = take(one);
    assert_int_equal(first, take(two));
    assert_int_not_equal(first, take(other));
    schedule_free(one);
    schedule_free(two);
    schedule_free(other);
}

/* The schedule of a file with that text; NULL and `error`. */
static struct schedule *recorded(const char *text, double rate_hz, struct error *error) {
    char path[] = "/tmp/persik-test-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    struct schedule_options options = {
        .arrivals = LOAD_RECORDED, .recorded_file = path, .rate_hz = rate_hz};
    struct schedule *schedule = schedule_new(&options, error);
    remove(path);
    return schedule;
}

static void recorded_times_begin_at_once_and_end(void **state) {
    (void)state;
    struct schedule *schedule = recorded("10.5\n11\n\n11\n13.25\n", 0, NULL);
    assert_int_equal(take(schedule), 0);
    assert_int_equal(take(schedule), 500000000);
    assert_int_equal(take(schedule), 500000000);
    assert_false(schedule_is_over(schedule));
    assert_int_equal(take(schedule), 2750000000);
    uint64_t none;
    assert_false(schedule_next(schedule, &none));
    assert_true(schedule_is_over(schedule));
    schedule_free(schedule);
}

static void recorded_times_are_stretched_to_a_rate(void **state) {
    (void)state;
    struct schedule *schedule = recorded("0\n1\n4\n", 100, NULL);
    assert_int_equal(take(schedule), 0);
    assert_int_equal(take(schedule), 5000000);
    assert_int_equal(take(schedule), 20000000);
    schedule_free(schedule);
}

static void bad_recordings_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"1\n0.5\n", "1\nx\n", "0\n-1\n", "0\nnan\n", "0\n1e99\n"};
    struct error error = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(recorded(wrong[i], 0, &error));
        assert_non_null(strstr(error.text, ":2: "));
    }
    assert_null(recorded("\n", 0, &error));
    assert_non_null(strstr(error.text, "empty"));
}

static void clients_ask_when_they_have_an_answer_and_have_thought(void **state) {
    (void)state;
    struct schedule_options options = {
        .arrivals = LOAD_CONSTANT, .clients = 3, .think_ns = 1000, .seed = 1};
    struct schedule *schedule = schedule_new(&options, NULL);
    for (int i = 0; i < 3; i++)
        assert_true(take(schedule) < 1000); /* not all at once */
    uint64_t none;
    assert_false(schedule_next(schedule, &none));
    assert_false(schedule_is_over(schedule));
    schedule_answered(schedule, 9000);
    schedule_answered(schedule, 5000);
    schedule_answered(schedule, 7000);
    assert_int_equal(take(schedule), 6000);
    assert_int_equal(take(schedule), 8000);
    assert_int_equal(take(schedule), 10000);
    schedule_free(schedule);
}

static void many_clients_come_in_order(void **state) {
    (void)state;
    struct schedule_options options = {.clients = 1000, .think_ns = S, .seed = 3};
    struct schedule *schedule = schedule_new(&options, NULL);
    uint64_t last = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t next = take(schedule);
        assert_true(next >= last);
        last = next;
        schedule_answered(schedule, next);
    }
    schedule_free(schedule);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_gaps_add_up_without_drift),
        cmocka_unit_test(poisson_gaps_have_their_mean_and_are_exponential),
        cmocka_unit_test(the_same_seed_gives_the_same_times),
        cmocka_unit_test(recorded_times_begin_at_once_and_end),
        cmocka_unit_test(recorded_times_are_stretched_to_a_rate),
        cmocka_unit_test(bad_recordings_are_refused),
        cmocka_unit_test(clients_ask_when_they_have_an_answer_and_have_thought),
        cmocka_unit_test(many_clients_come_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
