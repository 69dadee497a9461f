/* Where threads block that no probe sees. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "modelgen/report/unexplained_time.h"

static struct sample_node nodes[] = {
    {.parent = -1, .function = "main", .file = "/src/a.cpp", .line = 33},
    {.parent = 0, .function = "get", .file = "/usr/include/c++/12/future", .line = 806},
    {.parent = 1, .function = "syscall", .file = "../sysdeps/syscall.S", .line = 38},
    {.parent = 0, .function = "pthread_join", .line = 0},
    {.parent = 3, .function = "wait", .line = 0},
};
static const struct sample sample = {.nodes = nodes, .n_nodes = 5};

static char *place_with(uint64_t in_get, uint64_t in_join, uint64_t in_main) {
    nodes[2].blocked = in_get;
    nodes[4].blocked = in_join;
    nodes[0].blocked = in_main;
    return unexplained_time_place(&sample);
}

static void the_call_that_blocks_is_named_with_its_caller(void **state) {
    (void)state;
    char *place = place_with(20, 300, 0);
    assert_string_equal(place, "get, called from main (a.cpp:33)");
    free(place);
}

static void so_is_a_function_that_blocks_by_itself(void **state) {
    (void)state;
    char *place = place_with(0, 300, 20);
    assert_string_equal(place, "main (a.cpp:33)");
    free(place);
}

static void recorded_calls_and_few_samples_are_no_place(void **state) {
    (void)state;
    assert_null(place_with(0, 300, 0));
    assert_null(place_with(2, 300, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_call_that_blocks_is_named_with_its_caller),
        cmocka_unit_test(so_is_a_function_that_blocks_by_itself),
        cmocka_unit_test(recorded_calls_and_few_samples_are_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
