/* Threads that are made for one task each, and pools of them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/threads/task_threads.h"
#include "modelgen/threads/thread_pools.h"
#include "tests/unit/sourceless_pools.h"
#include "tests/unit/trace_builder.h"

enum { EACH_NS = 10000, TASKS = 4 };

static void show(struct trace *trace, int thread, enum api api, uint64_t at_ns, uint16_t flags) {
    struct trace_record *record = builder_record(trace, thread, "pthread_mutex_unlock", at_ns, 0, 7,
                                                 builder_context(trace, "take", 1, "main", 2), 0);
    record->api = api;
    record->flags = flags;
}

static void create(struct trace *trace, uint64_t at_ns) {
    int made = builder_thread(trace, "serve", 0);
    builder_create(trace, 0, at_ns, 100, builder_context(trace, "pthread_create", 3, "main", 4),
                   made);
    builder_life(trace, made, at_ns + 50, at_ns + 500);
}

/* Main takes a task and makes a thread for it, again and again. */
static struct trace *making(void) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    for (uint64_t i = 1; i <= TASKS; i++) {
        show(trace, 0, ROLE_get, i * EACH_NS, 0);
        create(trace, i * EACH_NS + 100);
    }
    return trace;
}

static void finish(struct trace *trace) {
    builder_life(trace, 0, 0, 9 * EACH_NS);
    trace->meta.run_ns = 9 * EACH_NS;
}

static void a_thread_is_made_for_each_task_that_is_taken(void **state) {
    (void)state;
    struct trace *trace = making();
    finish(trace);
    enum made_for *made = task_threads_find(trace);
    assert_int_equal(made[0], MADE_FOR_ANYTHING);
    for (int t = 1; t <= TASKS; t++)
        assert_int_equal(made[t], MADE_FOR_TASK);
    free(made);
    trace_free(trace);
}

static void only_the_first_is_made_for_a_task(void **state) {
    (void)state;
    struct trace *trace = making();
    create(trace, TASKS * EACH_NS + 300);
    finish(trace);
    enum made_for *made = task_threads_find(trace);
    assert_int_equal(made[TASKS], MADE_FOR_TASK);
    assert_int_equal(made[TASKS + 1], MADE_FOR_ANYTHING);
    free(made);
    trace_free(trace);
}

static void a_task_that_is_done_makes_no_thread(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    show(trace, 0, ROLE_get, 100, 0);
    show(trace, 0, ROLE_task_end, 200, 0);
    create(trace, 300);
    show(trace, 0, ROLE_get, 500, TRACE_FAILED); /* nothing more came */
    create(trace, 700);
    finish(trace);
    enum made_for *made = task_threads_find(trace);
    assert_int_equal(made[1], MADE_FOR_ANYTHING);
    assert_int_equal(made[2], MADE_FOR_ANYTHING);
    free(made);
    trace_free(trace);
}

static void their_number_does_not_follow_the_thread_count(void **state) {
    (void)state;
    struct trace *trace = making();
    finish(trace);
    struct thread_pools pools = sourceless_pools(trace);
    assert_int_equal(pools.n_pools, 2);
    assert_true(pools.pools[1].per_task);
    assert_false(pools.pools[1].scales);
    thread_pools_free(&pools);
    trace_free(trace);
}

/* Main waits for connections, over which tasks come later. */
static void threads_for_connections_do_not_follow_it_either(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    for (uint64_t i = 1; i <= TASKS; i++) {
        show(trace, 0, ROLE_idle, i * EACH_NS, 0);
        create(trace, i * EACH_NS + 100);
    }
    finish(trace);
    struct thread_pools pools = sourceless_pools(trace);
    assert_false(pools.pools[1].per_task);
    assert_true(pools.pools[1].per_connection);
    assert_false(pools.pools[1].scales);
    thread_pools_free(&pools);
    trace_free(trace);
}

/* As where a server makes its workers first, and more of them later on. */
static void a_pool_with_others_follows_it(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    create(trace, 100);
    create(trace, 300);
    show(trace, 0, ROLE_get, EACH_NS, 0);
    create(trace, EACH_NS + 100);
    finish(trace);
    struct thread_pools pools = sourceless_pools(trace);
    assert_false(pools.pools[1].per_task);
    assert_true(pools.pools[1].scales);
    thread_pools_free(&pools);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_made_for_each_task_that_is_taken),
        cmocka_unit_test(only_the_first_is_made_for_a_task),
        cmocka_unit_test(a_task_that_is_done_makes_no_thread),
        cmocka_unit_test(their_number_does_not_follow_the_thread_count),
        cmocka_unit_test(threads_for_connections_do_not_follow_it_either),
        cmocka_unit_test(a_pool_with_others_follows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
