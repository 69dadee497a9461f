/* Threads that go on until a sleeper tells them to end. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/scaling/given_time.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKERS = 2, FROM_NS = 100, SLEEP_NS = 10000, TOLD_NS = FROM_NS + SLEEP_NS };

/* The time that is given to two threads that live from `begin_ns` to about `end_ns`. */
static double given(uint64_t begin_ns, uint64_t end_ns) {
    struct trace *trace = builder_new_with_workers(WORKERS);
    builder_record(trace, MAIN, "nanosleep", FROM_NS, SLEEP_NS, 0,
                   builder_context(trace, "main", 10, "main", 10), 0);
    builder_finish(trace, 100000);
    size_t threads[WORKERS];
    for (int w = 1; w <= WORKERS; w++) {
        builder_life(trace, w, begin_ns, end_ns + (uint64_t)w);
        threads[w - 1] = (size_t)w;
    }
    struct thread_pool pool = {.n_threads = WORKERS, .threads = threads};
    double ns = given_time_of(trace, &pool);
    trace_free(trace);
    return ns;
}

static void threads_that_end_by_a_sleep_go_on_for_so_long(void **state) {
    (void)state;
    assert_true(given(FROM_NS - 50, TOLD_NS + 100) == SLEEP_NS);
}

static void threads_that_end_before_it_or_long_after_it_do_not(void **state) {
    (void)state;
    assert_true(given(FROM_NS - 50, TOLD_NS - 100) == 0);
    assert_true(given(FROM_NS - 50, TOLD_NS + SLEEP_NS / 10) == 0);
}

static void a_sleep_that_is_little_of_their_life_gives_no_time(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    builder_record(trace, MAIN, "nanosleep", 50000, 1000, 0,
                   builder_context(trace, "main", 10, "main", 10), 0);
    builder_finish(trace, 100000);
    builder_life(trace, 1, 100, 51010);
    size_t thread = 1;
    assert_true(given_time_of(trace, &(struct thread_pool){.n_threads = 1, .threads = &thread}) ==
                0);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_end_by_a_sleep_go_on_for_so_long),
        cmocka_unit_test(threads_that_end_before_it_or_long_after_it_do_not),
        cmocka_unit_test(a_sleep_that_is_little_of_their_life_gives_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
