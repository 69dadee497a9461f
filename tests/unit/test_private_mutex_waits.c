/* Threads that lock a mutex of their own before they give up the shared one to wait. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/private_mutex_waits.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { SHARED = 0x1000, OWN = 0x2000, CONDITION = 0x3000, ELSE = 0x4000 };

static void call(struct trace *trace, int thread, const char *api, uint64_t start_ns,
                 uint64_t end_ns, uint64_t object) {
    builder_call(trace, thread, api, start_ns, end_ns, object, TRACE_NO_CONTEXT);
}

/* The worker finds nothing, waits from 130 to 500, and takes the shared mutex again at 520. Main
 * tells it at 400. */
static struct trace *one_wait(void) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1), worker = builder_thread(trace, "work", 0);
    call(trace, worker, "pthread_mutex_lock", 100, 100, SHARED);
    call(trace, worker, "pthread_mutex_lock", 110, 110, OWN);
    call(trace, worker, "pthread_mutex_unlock", 120, 120, SHARED);
    call(trace, worker, "pthread_cond_wait", 130, 500, CONDITION);
    call(trace, worker, "pthread_mutex_unlock", 510, 510, OWN);
    call(trace, worker, "pthread_mutex_lock", 515, 520, SHARED);
    call(trace, worker, "pthread_mutex_unlock", 530, 530, SHARED);
    call(trace, main_thread, "pthread_mutex_lock", 380, 380, SHARED);
    call(trace, main_thread, "pthread_mutex_lock", 390, 390, OWN);
    call(trace, main_thread, "pthread_mutex_unlock", 395, 395, SHARED);
    call(trace, main_thread, "pthread_cond_signal", 400, 400, CONDITION);
    call(trace, main_thread, "pthread_mutex_unlock", 405, 405, OWN);
    return trace;
}

static void assert_call(const struct event_log *log, int thread, size_t record, enum api_op op,
                        uint64_t object) {
    const struct trace_record *shown = &log->trace.threads[thread].records[record];
    assert_int_equal(trace_op(shown), op);
    assert_int_equal(shown->object, object);
}

static void the_wait_is_one_under_the_shared_mutex(void **state) {
    (void)state;
    struct trace *trace = one_wait();
    struct event_log log = event_log_of(trace);
    private_mutex_waits_as_condition_waits(&log);
    assert_int_equal(log.trace.threads[1].n_records, 3);
    assert_call(&log, 1, 0, OP_LOCK, SHARED);
    assert_call(&log, 1, 1, OP_WAIT, CONDITION);
    assert_call(&log, 1, 2, OP_UNLOCK, SHARED);
    const struct trace_record *wait = &log.trace.threads[1].records[1];
    assert_true(wait->start_ns == 120 && trace_end_ns(wait) == 520 && wait->flags & TRACE_WAITED);
    assert_int_equal(wait->value, trace_mutex_value(SHARED));
    assert_int_equal(log.trace.threads[0].n_records, 3);
    assert_call(&log, 0, 2, OP_SIGNAL, CONDITION);
    assert_int_equal(trace->threads[1].n_records, 7); /* as it was */
    event_log_free(&log);
    trace_free(trace);
}

static void a_wait_that_the_program_ended_in_is_one_too(void **state) {
    (void)state;
    struct trace *trace = one_wait();
    int idle = builder_thread(trace, "work", 0);
    call(trace, idle, "pthread_mutex_lock", 200, 200, SHARED);
    call(trace, idle, "pthread_mutex_lock", 210, 210, OWN);
    call(trace, idle, "pthread_mutex_unlock", 220, 220, SHARED);
    call(trace, idle, "pthread_cond_wait", 230, 900, CONDITION);
    builder_unfinished(trace, idle);
    struct event_log log = event_log_of(trace);
    private_mutex_waits_as_condition_waits(&log);
    assert_int_equal(log.trace.threads[idle].n_records, 2);
    assert_call(&log, idle, 1, OP_WAIT, CONDITION);
    assert_true(log.trace.threads[idle].records[1].flags & TRACE_UNFINISHED);
    event_log_free(&log);
    trace_free(trace);
}

/* Something else happens under the thread's own mutex, or it does not take the shared one again. */
static void what_is_more_than_a_relay_stays(void **state) {
    (void)state;
    for (int takes_again = 0; takes_again <= 1; takes_again++) {
        struct trace *trace = one_wait();
        if (takes_again) {
            call(trace, 1, "pthread_mutex_lock", 600, 600, OWN);
            call(trace, 1, "pthread_mutex_lock", 610, 610, ELSE);
            call(trace, 1, "pthread_mutex_unlock", 620, 620, ELSE);
            call(trace, 1, "pthread_mutex_unlock", 630, 630, OWN);
        } else {
            trace->threads[1].records[5].object = ELSE;
            trace->threads[1].records[6].object = ELSE;
        }
        size_t n_records = trace->threads[1].n_records;
        struct event_log log = event_log_of(trace);
        private_mutex_waits_as_condition_waits(&log);
        assert_int_equal(log.trace.threads[1].n_records, n_records);
        assert_int_equal(log.trace.threads[0].n_records, 5);
        event_log_free(&log);
        trace_free(trace);
    }
}

/* Once it is for another shared mutex that the thread takes its own. */
static void a_mutex_that_goes_with_two_others_is_not_private(void **state) {
    (void)state;
    struct trace *trace = one_wait();
    call(trace, 0, "pthread_mutex_lock", 600, 600, ELSE);
    call(trace, 0, "pthread_mutex_lock", 610, 610, OWN);
    call(trace, 0, "pthread_mutex_unlock", 620, 620, ELSE);
    call(trace, 0, "pthread_cond_signal", 630, 630, CONDITION);
    call(trace, 0, "pthread_mutex_unlock", 640, 640, OWN);
    struct event_log log = event_log_of(trace);
    private_mutex_waits_as_condition_waits(&log);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

/* Beside one at which the worker does wait, if it comes. */
static void a_mutex_at_which_nobody_waits_is_not_private(void **state) {
    (void)state;
    for (int comes = 0; comes <= 1; comes++) {
        struct trace *trace = one_wait();
        call(trace, 0, "pthread_mutex_lock", 600, 600, SHARED);
        call(trace, 0, "pthread_mutex_lock", 610, 610, ELSE);
        call(trace, 0, "pthread_mutex_unlock", 620, 620, SHARED);
        call(trace, 0, "pthread_mutex_unlock", 630, 630, ELSE);
        if (!comes)
            trace->threads[1].n_records = 0;
        struct event_log log = event_log_of(trace);
        private_mutex_waits_as_condition_waits(&log);
        assert_int_equal(log.trace.threads[0].n_records, comes ? 3 + 4 : 5 + 4);
        size_t first = comes ? 3 : 5;
        assert_call(&log, 0, first + 1, OP_LOCK, ELSE);
        assert_call(&log, 0, first + 3, OP_UNLOCK, ELSE);
        event_log_free(&log);
        trace_free(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wait_is_one_under_the_shared_mutex),
        cmocka_unit_test(a_wait_that_the_program_ended_in_is_one_too),
        cmocka_unit_test(what_is_more_than_a_relay_stays),
        cmocka_unit_test(a_mutex_that_goes_with_two_others_is_not_private),
        cmocka_unit_test(a_mutex_at_which_nobody_waits_is_not_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
