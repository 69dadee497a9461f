/* What numbers in a program's command tell: thread counts, and for how long it was to run. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/scaling/given_time.h"
#include "modelgen/threads/command_numbers.h"

static char *arguments[] = {"./program4", "-T8", "--jobs=3", "10s", "2", "file7.txt", "-x"};
static const struct trace_meta command = {.n_args = 7, .args = arguments};

static void arguments_that_end_in_a_number_name_it(void **state) {
    (void)state;
    for (int named = 1; named <= 10; named++)
        assert_int_equal(command_names_number(&command, named),
                         named == 8 || named == 3 || named == 10 || named == 2);
}

static void the_largest_of_them_is_more_than_those_below(void **state) {
    (void)state;
    assert_true(command_names_more_than(&command, 9));
    assert_false(command_names_more_than(&command, 10));
}

static void seconds_that_every_run_took_are_a_given_time(void **state) {
    (void)state;
    struct trace_plain_run plain[] = {{.run_ns = 2020000000}, {.run_ns = 2001000000}};
    struct trace_meta meta = command;
    meta.run_ns = 2030000000;
    assert_true(given_time_named(&meta) == 0); /* one run could be so long by chance */
    meta.n_untraced = 2;
    meta.untraced = plain;
    assert_true(given_time_named(&meta) == 2e9);
    plain[1].run_ns = 1900000000;
    assert_true(given_time_named(&meta) == 0);
    plain[1].run_ns = 2400000000;
    assert_true(given_time_named(&meta) == 0);
}

static void seconds_that_the_command_does_not_name_are_none(void **state) {
    (void)state;
    struct trace_plain_run plain[] = {{.run_ns = 4010000000}};
    struct trace_meta meta = command;
    meta.run_ns = 4010000000;
    meta.n_untraced = 1;
    meta.untraced = plain;
    assert_true(given_time_named(&meta) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_that_end_in_a_number_name_it),
        cmocka_unit_test(the_largest_of_them_is_more_than_those_below),
        cmocka_unit_test(seconds_that_every_run_took_are_a_given_time),
        cmocka_unit_test(seconds_that_the_command_does_not_name_are_none),
    };
    return cmocka_run_group_tests_name("command numbers", tests, NULL, NULL);
}
