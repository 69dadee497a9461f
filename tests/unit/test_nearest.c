/* cli/text/nearest: what a person may have meant. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "cli/text/nearest.h"

static void a_distance_is_to_the_nearest_part_of_a_name(void **state) {
    (void)state;
    assert_int_equal(nearest_distance("lock", "mutex global:lock, main (gate.c:5)"), 0);
    assert_int_equal(nearest_distance("LOCK", "mutex global:lock"), 0);
    assert_int_equal(nearest_distance("lokc", "global:lock"), 1); /* lo */
    assert_int_equal(nearest_distance("wroker", "worker"), 2);
    assert_int_equal(nearest_distance("abc", ""), 3);
    assert_int_equal(nearest_distance("", "abc"), 0);
}

static void assert_list(const char *wanted, const char *const *names, size_t n,
                        const char *expected) {
    char *list = nearest_list(wanted, names, n);
    assert_string_equal(list, expected);
    free(list);
}

static void the_nearest_come_first_and_the_rest_is_counted(void **state) {
    (void)state;
    const char *const names[] = {"main", "reader", "writer", "worker", "a", "b", "c"};
    assert_list("workr", names, 4, "'worker', 'writer', 'reader', 'main'");
    assert_list("main", names, 1, "'main'");
    const char *const alike[] = {"queue of writer", "writer", "writer#2"};
    assert_list("wrtier", alike, 3, "'writer', 'writer#2', 'queue of writer'");
    assert_list("workr", names, 7, "'worker', 'writer', 'reader', 'a', 'b' and 2 others");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_distance_is_to_the_nearest_part_of_a_name),
        cmocka_unit_test(the_nearest_come_first_and_the_rest_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
