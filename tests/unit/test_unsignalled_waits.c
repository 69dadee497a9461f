/* Timed waits for conditions that nobody signals, and waits that the program's end ends. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/unsignalled_waits.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, OTHER_MUTEX = 0x1100, CONDITION = 0x2000 };

/* Thread 0 waits twice in a critical section, 100 ns each, until its timeouts. */
static struct trace *ticks(uint64_t mutex_of_wait) {
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    uint32_t place = builder_context(trace, "pthread_cond_timedwait", 10, "main", 20);
    builder_call(trace, thread, "pthread_mutex_lock", 10, 10, MUTEX, place);
    for (uint64_t at = 20; at <= 120; at += 100) {
        struct trace_record *wait =
            builder_record(trace, thread, "pthread_cond_timedwait", at, 90, CONDITION, place,
                           trace_mutex_value(mutex_of_wait));
        wait->flags |= TRACE_TIMEDOUT | TRACE_FAILED;
    }
    builder_call(trace, thread, "pthread_mutex_unlock", 220, 220, MUTEX, place);
    builder_thread(trace, "worker", 0);
    builder_finish(trace, 300);
    return trace;
}

static void who_waits_for_what_nobody_signals_sleeps_without_the_mutex(void **state) {
    (void)state;
    static const enum api expected[] = {
        API_pthread_mutex_lock, ROLE_unlock, API_nanosleep,           ROLE_lock, ROLE_unlock,
        API_nanosleep,          ROLE_lock,   API_pthread_mutex_unlock};
    struct trace *trace = ticks(MUTEX);
    struct event_log log = event_log_of(trace);
    assert_int_equal(unsignalled_waits_as_sleeps(&log), 2);
    assert_int_equal(log.trace.threads[0].n_records, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(shown_call(&log, 0, i)->api, expected[i]);
    assert_int_equal(shown_call(&log, 0, 1)->object, MUTEX);
    assert_int_equal(shown_call(&log, 0, 1)->start_ns, 20);
    assert_int_equal(shown_call(&log, 0, 2)->duration_ns, 90);
    assert_int_equal(shown_call(&log, 0, 3)->start_ns, 110);
    event_log_free(&log);
    trace_free(trace);
}

static void assert_stays(struct trace *trace) {
    struct event_log log = event_log_of(trace);
    assert_int_equal(unsignalled_waits_as_sleeps(&log), 0);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

static void what_was_signalled_once_is_a_condition(void **state) {
    (void)state;
    struct trace *trace = ticks(MUTEX);
    builder_call(trace, 1, "pthread_cond_signal", 250, 250, CONDITION, 0);
    assert_stays(trace);
}

static void a_wait_that_ended_before_its_timeout_is_for_a_condition(void **state) {
    (void)state;
    struct trace *trace = ticks(MUTEX);
    trace->threads[0].records[2].flags &= (unsigned)~(TRACE_TIMEDOUT | TRACE_FAILED);
    assert_stays(trace);
}

static void a_wait_with_a_mutex_that_is_not_held_stays(void **state) {
    (void)state;
    assert_stays(ticks(OTHER_MUTEX));
}

/* A thread of process 1 ends in a wait, as its process does; another mutex was taken and given back
 * since. `creator`: -1: its creation was not seen, or it is the process's first thread, `tid` 1. */
static struct trace *waits_to_the_end(int creator, int tid) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    int thread = builder_thread(trace, "?", creator);
    trace->threads[thread].tid = tid;
    uint32_t place = builder_context(trace, "idle", 10, "thread", 20);
    builder_call(trace, thread, "pthread_mutex_trylock", 10, 10, MUTEX, place);
    builder_call(trace, thread, "pthread_mutex_lock", 12, 12, OTHER_MUTEX, place);
    builder_call(trace, thread, "pthread_mutex_unlock", 14, 14, OTHER_MUTEX, place);
    builder_call(trace, thread, "pthread_cond_wait", 20, 300, CONDITION, place);
    builder_unfinished(trace, thread);
    builder_finish(trace, 300);
    return trace;
}

static void who_was_created_unseen_ends_where_it_begins_to_wait_for_ever(void **state) {
    (void)state;
    struct trace *trace = waits_to_the_end(-1, 2);
    builder_slice(trace, 1, 5, 25);
    builder_slice(trace, 1, 299, 300);
    struct event_log log = event_log_of(trace);
    assert_int_equal(unsignalled_waits_as_ends(&log), 1);
    assert_int_equal(log.trace.threads[1].n_records, 4);
    assert_int_equal(shown_call(&log, 1, 3)->api, ROLE_unlock);
    assert_int_equal(shown_call(&log, 1, 3)->object, MUTEX);
    assert_int_equal(shown_call(&log, 1, 3)->start_ns, 20);
    assert_int_equal(log.trace.threads[1].end_ns, 25);
    assert_int_equal(log.trace.threads[1].n_slices, 1);
    event_log_free(&log);
    trace_free(trace);
}

static void first_threads_and_those_with_a_creator_wait(void **state) {
    (void)state;
    for (int creator = -1; creator <= 0; creator++) {
        struct trace *trace = waits_to_the_end(creator, creator < 0 ? 1 : 2);
        struct event_log log = event_log_of(trace);
        assert_int_equal(unsignalled_waits_as_ends(&log), 0);
        assert_shown_as_recorded(&log, trace);
        event_log_free(&log);
        trace_free(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_what_nobody_signals_sleeps_without_the_mutex),
        cmocka_unit_test(what_was_signalled_once_is_a_condition),
        cmocka_unit_test(a_wait_that_ended_before_its_timeout_is_for_a_condition),
        cmocka_unit_test(a_wait_with_a_mutex_that_is_not_held_stays),
        cmocka_unit_test(who_was_created_unseen_ends_where_it_begins_to_wait_for_ever),
        cmocka_unit_test(first_threads_and_those_with_a_creator_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
