/* Which round of its pool each pass of a thread over a loop belongs to. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "modelgen/graph/iteration_partition.h"

/* Two at a time: threads 1 and 2, and after them 4 and 3. */
static size_t threads[] = {1, 2, 4, 3};
static const struct thread_pool pool = {.threads = threads, .n_threads = 4, .size = 2};

static size_t *numbers_of(size_t n, struct loop_pass *items) {
    struct loop_passes passes = {.items = items, .count = n};
    return loop_passes_numbers(&passes, &pool);
}

static void threads_have_positions_in_their_pool(void **state) {
    (void)state;
    size_t n, *position = loop_passes_positions(&pool, &n);
    const size_t expected[] = {0, 1, 2, 4, 3};
    assert_int_equal(n, 5);
    assert_memory_equal(position, expected, sizeof expected);
    free(position);
}

static void later_threads_go_on_counting_rounds(void **state) {
    (void)state;
    struct loop_pass items[] = {{.thread = 1}, {.thread = 2}, {.thread = 2},
                                {.thread = 1}, {.thread = 3}, {.thread = 4}};
    size_t *numbers = numbers_of(6, items);
    const size_t expected[] = {0, 1, 3, 2, 5, 4};
    assert_non_null(numbers);
    assert_memory_equal(numbers, expected, sizeof expected);
    free(numbers);
}

static void unequal_passes_have_no_rounds(void **state) {
    (void)state;
    struct loop_pass items[] = {
        {.thread = 1}, {.thread = 2}, {.thread = 2}, {.thread = 3}, {.thread = 4}};
    assert_null(numbers_of(5, items));
    assert_null(numbers_of(0, items));
}

static void passes_of_others_have_no_rounds(void **state) {
    (void)state;
    struct loop_pass items[] = {
        {.thread = 1}, {.thread = 2}, {.thread = 3}, {.thread = 4}, {.thread = 9}};
    assert_null(numbers_of(5, items));
    items[4].thread = 0;
    assert_null(numbers_of(5, items));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_positions_in_their_pool),
        cmocka_unit_test(later_threads_go_on_counting_rounds),
        cmocka_unit_test(unequal_passes_have_no_rounds),
        cmocka_unit_test(passes_of_others_have_no_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
