/* Waits for signals that other threads of the program send. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>

#include "modelgen/rewrite/signals.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, SENDER, OTHER };
enum { PROCESS = 1, ELSEWHERE = 77, BEGINS = 1000, ENDS = 501000, SENT = 500000 };

/* sigsuspend() always says that it has failed: it was interrupted. */
static void wait_for_signal(struct trace *trace, int thread) {
    builder_record(trace, thread, "sigsuspend", BEGINS, ENDS - BEGINS, 0, TRACE_NO_CONTEXT, -1)
        ->flags |= TRACE_FAILED;
}

static void send_to_thread(struct trace *trace, int from, int to, uint64_t at_ns) {
    builder_record(trace, from, "pthread_kill", at_ns, 0, 0, TRACE_NO_CONTEXT, to);
}

static void send_to_process(struct trace *trace, int from, uint64_t process, uint64_t at_ns) {
    builder_record(trace, from, "kill", at_ns, 0, process, TRACE_NO_CONTEXT, SIGUSR1);
}

/* Main waits for a signal; nobody has sent one yet. */
static struct trace *waiting_main(void) {
    struct trace *trace = builder_new_with_workers(2);
    wait_for_signal(trace, MAIN);
    return trace;
}

/* Frees the trace. */
static void assert_stays(struct trace *trace) {
    struct event_log log = event_log_of(trace);
    signals_as_permits(&log);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

static void assert_permit(const struct trace_record *send, const struct trace_record *wait) {
    assert_int_equal(send->api, ROLE_release);
    assert_int_equal(wait->api, ROLE_acquire);
    assert_int_equal(send->object, wait->object);
    assert_int_equal(send->value, 0);
    assert_int_equal(wait->value, 0);
    assert_false(wait->flags & TRACE_FAILED);
}

static void whoever_sends_a_signal_releases_the_thread_that_waits_for_it(void **state) {
    (void)state;
    for (int to_thread = 0; to_thread <= 1; to_thread++) {
        struct trace *trace = waiting_main();
        if (to_thread)
            send_to_thread(trace, SENDER, MAIN, SENT);
        else
            send_to_process(trace, SENDER, PROCESS, SENT);
        struct event_log log = event_log_of(trace);
        signals_as_permits(&log);
        const struct trace_record *wait = shown_call(&log, MAIN, 0);
        assert_permit(shown_call(&log, SENDER, 0), wait);
        assert_true(wait->start_ns == BEGINS && trace_end_ns(wait) == ENDS);
        assert_int_equal(trace->threads[MAIN].records[0].api, API_sigsuspend); /* as it was */
        event_log_free(&log);
        trace_free(trace);
    }
}

static void of_two_signals_the_later_one_ended_the_wait(void **state) {
    (void)state;
    struct trace *trace = waiting_main();
    send_to_thread(trace, SENDER, MAIN, SENT - 100000);
    send_to_thread(trace, OTHER, MAIN, SENT);
    struct event_log log = event_log_of(trace);
    signals_as_permits(&log);
    assert_permit(shown_call(&log, OTHER, 0), shown_call(&log, MAIN, 0));
    assert_int_equal(shown_call(&log, SENDER, 0)->api, API_pthread_kill);
    event_log_free(&log);
    trace_free(trace);
}

/* The thread is known to have been woken at the first one; on its way it met the second. */
static void a_signal_after_the_wake_up_did_not_end_the_wait(void **state) {
    (void)state;
    struct trace *trace = waiting_main();
    uint64_t woken = SENT - 100000;
    send_to_thread(trace, SENDER, MAIN, woken - 1000);
    send_to_thread(trace, OTHER, MAIN, SENT);
    builder_run(trace, MAIN, 0, 0, 0, BEGINS + 10, false);
    builder_run(trace, MAIN, 0, woken, ENDS - 10, ENDS + 1000, false);
    struct event_log log = event_log_of(trace);
    signals_as_permits(&log);
    assert_permit(shown_call(&log, SENDER, 0), shown_call(&log, MAIN, 0));
    assert_int_equal(shown_call(&log, OTHER, 0)->api, API_pthread_kill);
    event_log_free(&log);
    trace_free(trace);
}

static void threads_that_are_created_alike_wait_at_one_semaphore(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    wait_for_signal(trace, SENDER);
    wait_for_signal(trace, OTHER);
    send_to_thread(trace, MAIN, SENDER, SENT);
    send_to_thread(trace, MAIN, OTHER, SENT + 10);
    struct event_log log = event_log_of(trace);
    signals_as_permits(&log);
    assert_permit(shown_call(&log, MAIN, 0), shown_call(&log, SENDER, 0));
    assert_permit(shown_call(&log, MAIN, 1), shown_call(&log, OTHER, 0));
    assert_int_equal(shown_call(&log, SENDER, 0)->object, shown_call(&log, OTHER, 0)->object);
    event_log_free(&log);
    trace_free(trace);
}

/* The wait is over at once: the signal was there before it began. */
static struct trace *wait_for_what_is_there(int sender) {
    struct trace *trace = builder_new_with_workers(2);
    send_to_thread(trace, sender, MAIN, BEGINS - 500);
    builder_record(trace, MAIN, "sigsuspend", BEGINS, 100, 0, TRACE_NO_CONTEXT, -1);
    return trace;
}

static void a_signal_that_was_there_already_ends_a_short_wait(void **state) {
    (void)state;
    struct trace *trace = wait_for_what_is_there(SENDER);
    struct event_log log = event_log_of(trace);
    signals_as_permits(&log);
    assert_permit(shown_call(&log, SENDER, 0), shown_call(&log, MAIN, 0));
    event_log_free(&log);
    trace_free(trace);
}

static void a_signal_that_a_thread_sent_itself_is_nobodys(void **state) {
    (void)state;
    assert_stays(wait_for_what_is_there(MAIN));
}

static void one_signal_ends_one_wait(void **state) {
    (void)state;
    struct trace *trace = waiting_main();
    wait_for_signal(trace, OTHER);
    send_to_process(trace, SENDER, PROCESS, SENT);
    struct event_log log = event_log_of(trace);
    signals_as_permits(&log);
    assert_int_equal(count_shown(&log, MAIN, ROLE_acquire) + count_shown(&log, OTHER, ROLE_acquire),
                     1);
    event_log_free(&log);
    trace_free(trace);
}

static void what_comes_from_elsewhere_stays_a_wait_for_a_time(void **state) {
    (void)state;
    assert_stays(waiting_main()); /* a timer's, the terminal's */
    struct trace *trace = waiting_main();
    send_to_process(trace, SENDER, ELSEWHERE, SENT); /* to another process */
    assert_stays(trace);
    trace = waiting_main();
    send_to_thread(trace, SENDER, MAIN, SENT);
    trace->threads[SENDER].pid = ELSEWHERE; /* the index is another thread's there */
    assert_stays(trace);
}

static void a_signal_to_somebody_else_or_too_late_ends_no_wait(void **state) {
    (void)state;
    struct trace *trace = waiting_main();
    send_to_thread(trace, SENDER, OTHER, SENT);
    assert_stays(trace);
    trace = waiting_main();
    send_to_thread(trace, SENDER, MAIN, ENDS + 1);
    assert_stays(trace);
    trace = waiting_main();
    send_to_thread(trace, SENDER, MAIN, BEGINS - 1); /* else it had not waited */
    assert_stays(trace);
}

static void a_wait_whose_time_was_over_or_that_never_ended_stays_one(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    builder_record(trace, MAIN, "sigtimedwait", BEGINS, ENDS - BEGINS, 0, TRACE_NO_CONTEXT, -1)
        ->flags |= TRACE_FAILED;
    send_to_thread(trace, SENDER, MAIN, SENT);
    assert_stays(trace);
    trace = waiting_main();
    builder_unfinished(trace, MAIN);
    send_to_thread(trace, SENDER, MAIN, SENT);
    assert_stays(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_sends_a_signal_releases_the_thread_that_waits_for_it),
        cmocka_unit_test(of_two_signals_the_later_one_ended_the_wait),
        cmocka_unit_test(a_signal_after_the_wake_up_did_not_end_the_wait),
        cmocka_unit_test(threads_that_are_created_alike_wait_at_one_semaphore),
        cmocka_unit_test(a_signal_that_was_there_already_ends_a_short_wait),
        cmocka_unit_test(a_signal_that_a_thread_sent_itself_is_nobodys),
        cmocka_unit_test(one_signal_ends_one_wait),
        cmocka_unit_test(what_comes_from_elsewhere_stays_a_wait_for_a_time),
        cmocka_unit_test(a_signal_to_somebody_else_or_too_late_ends_no_wait),
        cmocka_unit_test(a_wait_whose_time_was_over_or_that_never_ended_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
