/* The functions that are the work of threads that are created alike. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/worker_functions.h"
#include "tests/unit/trace_builder.h"

static const size_t members[] = {1, 2};

/* A worker that locks something in `part`, which its start routine calls in a function of its own.
 */
static struct trace *workers_at(const char *part) {
    struct trace *trace = builder_new_with_workers(2);
    uint32_t call = builder_context(trace, part, 20, "worker", 100);
    builder_call(trace, 1, "pthread_mutex_lock", 10, 10, 0x1000, call);
    builder_call(trace, 1, "pthread_mutex_unlock", 20, 20, 0x1000, call);
    return trace;
}

static void what_their_first_function_calls_is_their_work(void **state) {
    (void)state;
    struct trace *trace = workers_at("paint");
    struct worker_functions found = worker_functions_find(trace, NULL, members, 2, NULL);
    assert_int_equal(found.n_functions, 1);
    assert_true(worker_functions_contain(&found, "paint"));
    assert_false(worker_functions_contain(&found, "worker"));
    uint32_t of_creator = builder_context(trace, "paint", 20, "main", 50);
    uint32_t elsewhere = builder_context(trace, "read", 20, "main", 50);
    assert_true(worker_functions_make(&found, &trace->contexts[of_creator]));
    assert_false(worker_functions_make(&found, &trace->contexts[elsewhere]));
    worker_functions_free(&found);
    trace_free(trace);
}

/* What is called between calls that are made around the work, in functions that make those. */
static void what_is_called_amid_known_functions_is_their_work(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    const struct trace_frame chain[] = {{.function = "rows"},
                                        {.function = "serve"},
                                        {.function = "serve"}, /* by itself: none of the work */
                                        {.function = "worker"}};
    builder_call(trace, 1, "pthread_mutex_lock", 10, 10, 0x1000, builder_chain(trace, 4, chain));
    struct worker_functions around = {0};
    worker_functions_add(&around, "serve");
    worker_functions_add(&around, "serve");
    assert_int_equal(around.n_functions, 1);
    struct worker_functions found = worker_functions_find(trace, NULL, members, 2, &around);
    assert_int_equal(found.n_functions, 1);
    assert_true(worker_functions_contain(&found, "rows"));
    worker_functions_free(&found);
    worker_functions_free(&around);
    trace_free(trace);
}

/* So many samples of main in it, and of each of two workers. */
static bool is_run_by_creator(uint64_t own, uint64_t theirs) {
    struct trace *trace = workers_at("paint");
    struct sample_node nodes[] = {
        {.parent = -1, .function = "main"},
        {.parent = 0, .function = "paint", .running = own},
        {.parent = -1, .function = "worker"},
        {.parent = 2, .function = "paint", .running = 2 * theirs},
    };
    struct sample sample = {.nodes = nodes, .n_nodes = 4};
    struct worker_functions found = worker_functions_find(trace, &sample, members, 2, NULL);
    bool is = worker_functions_run_by_creator(&found, trace, &sample, 0, members, 2);
    worker_functions_free(&found);
    trace_free(trace);
    return is;
}

static void a_creator_that_is_seen_at_it_is_one_of_them(void **state) {
    (void)state;
    assert_true(is_run_by_creator(100, 100));
    assert_false(is_run_by_creator(1, 100)); /* it only lends a hand */
    assert_false(is_run_by_creator(0, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_their_first_function_calls_is_their_work),
        cmocka_unit_test(what_is_called_amid_known_functions_is_their_work),
        cmocka_unit_test(a_creator_that_is_seen_at_it_is_one_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
