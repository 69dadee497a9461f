/* Which of a program's arguments is the number of threads, and the program with another. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/arguments/placeholder.h"
#include "cli/arguments/thread_number.h"

/* The argument that changes, with 16 threads. */
static void assert_becomes(char *const *program, int threads, const char *becomes) {
    struct thread_number number;
    struct error error;
    if (thread_number_find(program, &number, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(number.threads, threads);
    char **other = thread_number_replace(program, &number, 16);
    assert_string_equal(other[number.argument], becomes);
    for (int i = 0; program[i]; i++)
        if (i != number.argument)
            assert_string_equal(other[i], program[i]);
    placeholder_free(other);
}

static void assert_unclear(char *const *program, const char *why) {
    struct thread_number number;
    struct error error;
    assert_int_equal(thread_number_find(program, &number, &error), -1);
    assert_non_null(strstr(error.text, why));
    assert_non_null(strstr(error.text, "{threads=4}"));
}

static void an_option_called_for_threads_has_it(void **state) {
    (void)state;
    assert_becomes((char *[]){"a", "--threads", "4", "-n", "9", NULL}, 4, "16");
    assert_becomes((char *[]){"a", "-n", "9", "--num-threads=4", NULL}, 4, "--num-threads=16");
    assert_becomes((char *[]){"a", "9", "OMP_NUM_THREADS=2", "b", NULL}, 2, "OMP_NUM_THREADS=16");
}

static void the_only_number_is_it(void **state) {
    (void)state;
    assert_becomes((char *[]){"prog7", "-j4", "in.txt", "-q", NULL}, 4, "-j16");
    assert_becomes((char *[]){"a", "2", "0.25", "1000000", NULL}, 2, "16");
}

static void it_may_be_marked(void **state) {
    (void)state;
    assert_becomes((char *[]){"a", "--threads", "8", "{threads=4}", NULL}, 4, "16");
    assert_becomes((char *[]){"a", "3", "-t{threads=4}x", NULL}, 4, "-t16x");
}

static void several_or_none_are_unclear(void **state) {
    (void)state;
    assert_unclear((char *[]){"a", "4", "100", NULL}, "2 could be");
    assert_unclear((char *[]){"a", "--threads", "4", "--io-threads", "2", NULL}, "2 could be");
    assert_unclear((char *[]){"a", "{threads=4}", "{threads=4}", NULL}, "2 could be");
    assert_unclear((char *[]){"a", "in.txt", NULL}, "none of");
    assert_unclear((char *[]){"a", "0", "{threads=}", "{threads=-1}", NULL}, "none of");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_called_for_threads_has_it),
        cmocka_unit_test(the_only_number_is_it),
        cmocka_unit_test(it_may_be_marked),
        cmocka_unit_test(several_or_none_are_unclear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
