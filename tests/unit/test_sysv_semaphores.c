/* Semaphores of System V. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/sysv_value.h"
#include "modelgen/rewrite/sysv_semaphores.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER };
enum { SET = 7, OTHER_SET = 8, FIRST = 0, SECOND = 1, PERMITS = 3 };

static void on(struct trace *trace, int thread, const char *api, int set, int value,
               uint64_t start_ns) {
    struct trace_record *record =
        builder_record(trace, thread, api, start_ns, 10, (uint64_t)set, TRACE_NO_CONTEXT, value);
    if (value < 0)
        record->flags |= TRACE_FAILED;
}

/* Main sets two semaphores; the worker takes one of the first and gives one to the second. */
static struct trace *two_semaphores(void) {
    struct trace *trace = builder_new_with_workers(1);
    on(trace, MAIN, "semctl", SET, sysv_value(FIRST, PERMITS), 100);
    on(trace, MAIN, "semctl", SET, sysv_value(SECOND, 0), 200);
    on(trace, WORKER, "semop", SET, sysv_value(FIRST, -1), 300);
    on(trace, WORKER, "semtimedop", SET, sysv_value(SECOND, 1), 400);
    return trace;
}

static void each_of_a_set_is_a_semaphore_of_its_own(void **state) {
    (void)state;
    struct trace *trace = two_semaphores();
    struct event_log log = event_log_of(trace);
    assert_int_equal(sysv_semaphores_as_semaphores(&log), 0);
    const struct trace_record *made[] = {shown_call(&log, MAIN, 0), shown_call(&log, MAIN, 1)};
    assert_int_equal(made[0]->api, ROLE_create_semaphore);
    assert_int_equal(made[0]->value, PERMITS);
    assert_int_equal(made[1]->value, 0);
    assert_int_not_equal(made[0]->object, made[1]->object);
    assert_int_equal(shown_call(&log, WORKER, 0)->api, ROLE_acquire);
    assert_int_equal(shown_call(&log, WORKER, 0)->object, made[0]->object);
    assert_int_equal(shown_call(&log, WORKER, 1)->api, ROLE_release);
    assert_int_equal(shown_call(&log, WORKER, 1)->object, made[1]->object);
    event_log_free(&log);
    trace_free(trace);
}

/* Taking two at once, waiting for none, several operations: the whole set is left alone. */
static void other_operations_leave_their_set_as_it_is_and_are_counted(void **state) {
    (void)state;
    const int others[] = {sysv_value(SECOND, -2), sysv_value(SECOND, 0), SYSV_SEVERAL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct trace *trace = two_semaphores();
        on(trace, WORKER, "semop", SET, others[i], 500);
        struct event_log log = event_log_of(trace);
        assert_int_equal(sysv_semaphores_as_semaphores(&log), 3);
        assert_shown_as_recorded(&log, trace);
        event_log_free(&log);
        trace_free(trace);
    }
}

static void another_set_is_not_spoiled_by_them(void **state) {
    (void)state;
    struct trace *trace = two_semaphores();
    on(trace, WORKER, "semop", OTHER_SET, SYSV_SEVERAL, 500);
    struct event_log log = event_log_of(trace);
    assert_int_equal(sysv_semaphores_as_semaphores(&log), 1);
    assert_int_equal(shown_call(&log, WORKER, 0)->api, ROLE_acquire);
    assert_int_equal(shown_call(&log, WORKER, 2)->api, API_semop);
    event_log_free(&log);
    trace_free(trace);
}

static void a_call_that_failed_changed_nothing(void **state) {
    (void)state;
    struct trace *trace = two_semaphores();
    on(trace, WORKER, "semop", SET, -1, 500);
    struct event_log log = event_log_of(trace);
    assert_int_equal(sysv_semaphores_as_semaphores(&log), 0);
    assert_int_equal(shown_call(&log, WORKER, 0)->api, ROLE_acquire);
    assert_int_equal(shown_call(&log, WORKER, 2)->api, API_semop);
    event_log_free(&log);
    trace_free(trace);
}

static void number_and_amount_fit_into_one_value(void **state) {
    (void)state;
    const int numbers[] = {0, 1, 31999}, amounts[] = {-32768, -1, 0, 1, 32767};
    for (size_t n = 0; n < 3; n++)
        for (size_t a = 0; a < 5; a++) {
            int32_t value = sysv_value(numbers[n], amounts[a]);
            assert_true(value >= 0 && value != SYSV_SEVERAL);
            assert_int_equal(sysv_number(value), numbers[n]);
            assert_int_equal(sysv_added(value), amounts[a]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_a_set_is_a_semaphore_of_its_own),
        cmocka_unit_test(other_operations_leave_their_set_as_it_is_and_are_counted),
        cmocka_unit_test(another_set_is_not_spoiled_by_them),
        cmocka_unit_test(a_call_that_failed_changed_nothing),
        cmocka_unit_test(number_and_amount_fit_into_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
