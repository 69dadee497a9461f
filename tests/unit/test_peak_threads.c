/* modelgen/events/peak_threads: a thread lives from when it is made, not from when it gets a core.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/catalog.h"
#include "modelgen/events/peak_threads.h"

/* The first thread makes two; the second of them gets a core when the first has ended. */
static void a_thread_lives_from_its_creation(void **state) {
    (void)state;
    int create = api_find("pthread_create");
    struct trace_record creations[] = {{.start_ns = 10, .api = (uint64_t)create, .value = 1},
                                       {.start_ns = 20, .api = (uint64_t)create, .value = 2}};
    struct trace_thread threads[] = {
        {.end_ns = 90, .index = 0, .creator = -1, .n_records = 2, .records = creations},
        {.start_ns = 11, .end_ns = 50, .index = 1},
        {.start_ns = 60, .end_ns = 70, .index = 2}};
    const struct trace trace = {.threads = threads, .n_threads = 3};
    const size_t made[] = {1, 2};
    assert_int_equal(peak_threads(&trace, made, 2), 2);
    creations[1].start_ns = 55;
    assert_int_equal(peak_threads(&trace, made, 2), 1);
}

static void creations_that_nobody_saw_do_not_count(void **state) {
    (void)state;
    struct trace_thread threads[] = {{.end_ns = 90, .creator = -1},
                                     {.start_ns = 11, .end_ns = 50},
                                     {.start_ns = 60, .end_ns = 70, .creator = 7}};
    const struct trace trace = {.threads = threads, .n_threads = 3};
    const size_t made[] = {1, 2};
    assert_int_equal(peak_threads(&trace, made, 2), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_lives_from_its_creation),
        cmocka_unit_test(creations_that_nobody_saw_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
