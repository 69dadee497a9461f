/* cli/load: is the machine busy with something else? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "cli/recording/disturbance.h"
#include "host/busy.h"

static const char stat[] = "cpu  1000 1000 1000 1000 1000 1000 1000 1000 0 0\n"
                           "cpu0 100 20 30 4000 500 6 7 8 90 10\n"
                           "cpu1 200 0 0 4000 500 0 0 0 0 0\n"
                           "cpu11 5000 0 0 0 0 0 0 0 0 0\n"
                           "intr 12345 0 9\n";

static void busy_time_is_that_of_the_chosen_cpus_without_idleness_and_guests(void **state) {
    (void)state;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    assert_int_equal(busy_parse_ns(stat, &cpus, 100), 171 * 10000000ull);
    CPU_SET(1, &cpus);
    assert_int_equal(busy_parse_ns(stat, &cpus, 100), 371 * 10000000ull);
    assert_int_equal(busy_parse_ns(stat, &cpus, 1000), 371 * 1000000ull);
    assert_int_equal(busy_parse_ns("", &cpus, 100), 0);
}

static void a_run_is_disturbed_by_more_than_a_twentieth_of_its_cores(void **state) {
    (void)state;
    const uint64_t second = 1000000000;
    struct program_run run = {.run_ns = 10 * second, .foreign_ns = second};
    assert_true(disturbance_matters(&run, 1));
    assert_false(disturbance_matters(&run, 4));
    run = (struct program_run){.run_ns = second / 1000, .foreign_ns = 2 * second / 100};
    assert_false(disturbance_matters(&run, 1)); /* no more than the kernel's counts are wrong by */
}

static void our_own_work_shows_in_the_busy_time(void **state) {
    (void)state;
    cpu_set_t cpus;
    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    uint64_t before_ns = busy_ns(&cpus);
    struct timespec used;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec == 0 && used.tv_nsec < 100000000);
    if (before_ns == 0)
        skip();
    assert_true(busy_ns(&cpus) - before_ns >= 20000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_time_is_that_of_the_chosen_cpus_without_idleness_and_guests),
        cmocka_unit_test(a_run_is_disturbed_by_more_than_a_twentieth_of_its_cores),
        cmocka_unit_test(our_own_work_shows_in_the_busy_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
