/* Semaphores on which one thread alone waits to be told. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/private_semaphores.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, OTHER, SEMAPHORE = 0x1000 };

static void take(struct trace *trace, int thread, uint64_t from_ns, uint64_t to_ns) {
    builder_call(trace, thread, "sem_wait", from_ns, to_ns, SEMAPHORE, TRACE_NO_CONTEXT);
}

static void release(struct trace *trace, int thread, uint64_t at_ns) {
    builder_call(trace, thread, "sem_post", at_ns, at_ns, SEMAPHORE, TRACE_NO_CONTEXT);
}

/* Main makes it with so many permits. */
static struct trace *made_with(int permits) {
    struct trace *trace = builder_new_with_workers(2);
    builder_record(trace, MAIN, "sem_init", 1, 0, SEMAPHORE, TRACE_NO_CONTEXT, permits);
    return trace;
}

/* Frees the trace. */
static bool is_private(struct trace *trace) {
    builder_finish(trace, 1000);
    struct private_semaphores found = private_semaphores_find(trace);
    assert_int_equal(found.count, 1);
    bool is = !found.items[0].is_other;
    private_semaphores_free(&found);
    trace_free(trace);
    return is;
}

static void one_that_one_thread_waits_on_is_private(void **state) {
    (void)state;
    struct trace *trace = made_with(0);
    take(trace, WORKER, 50, 100);
    release(trace, MAIN, 90);
    release(trace, OTHER, 200);
    take(trace, WORKER, 210, 210);
    builder_finish(trace, 1000);
    struct private_semaphores found = private_semaphores_find(trace);
    assert_int_equal(found.items[0].waiter, WORKER);
    assert_false(found.items[0].is_other);
    assert_int_equal(found.calls.count, 4); /* by time: released, taken, released, taken */
    assert_int_equal(found.calls.items[0].waiting_ns, 50);
    assert_true(found.calls.items[1].takes);
    assert_int_equal(found.calls.items[2].waiting_ns, 210);
    private_semaphores_free(&found);
    trace_free(trace);
}

static void two_that_wait_make_it_another_one(void **state) {
    (void)state;
    struct trace *trace = made_with(0);
    release(trace, MAIN, 90);
    take(trace, WORKER, 100, 100);
    release(trace, MAIN, 190);
    take(trace, OTHER, 200, 200);
    assert_false(is_private(trace));
}

static void so_do_permits_that_nobody_took_yet(void **state) {
    (void)state;
    struct trace *trace = made_with(0);
    release(trace, MAIN, 90);
    release(trace, MAIN, 95);
    take(trace, WORKER, 100, 100);
    take(trace, WORKER, 110, 110);
    assert_false(is_private(trace));
    trace = made_with(1);
    take(trace, WORKER, 100, 100);
    assert_false(is_private(trace));
}

static void and_calls_that_do_not_wait(void **state) {
    (void)state;
    struct trace *trace = made_with(0);
    release(trace, MAIN, 90);
    builder_call(trace, WORKER, "sem_trywait", 100, 100, SEMAPHORE, TRACE_NO_CONTEXT);
    assert_false(is_private(trace));
}

static void one_that_nobody_waits_on_is_none(void **state) {
    (void)state;
    struct trace *trace = made_with(0);
    release(trace, MAIN, 90);
    assert_false(is_private(trace));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_one_thread_waits_on_is_private),
        cmocka_unit_test(two_that_wait_make_it_another_one),
        cmocka_unit_test(so_do_permits_that_nobody_took_yet),
        cmocka_unit_test(and_calls_that_do_not_wait),
        cmocka_unit_test(one_that_nobody_waits_on_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
