/* A mutex that is held through waits for one thing after another. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/section_splitting.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, LOCK = 1, READY = 2, START = 3, DONE = 4, UNLOCK = 5 };

static void call(struct trace *trace, const char *api, int line, uint64_t start_ns,
                 uint64_t end_ns) {
    uint64_t object = line == LOCK || line == UNLOCK ? MUTEX : CONDITION;
    builder_call(trace, 0, api, start_ns, end_ns, object,
                 builder_context(trace, "start_and_await", line, "main", 100));
}

/* Waits until all are ready, starts them, and waits until they are done unless they are. */
static void race(struct trace *trace, uint64_t start_ns, int until, bool waits_again) {
    call(trace, "pthread_mutex_lock", LOCK, start_ns, start_ns);
    call(trace, "pthread_cond_wait", READY, start_ns + 10, start_ns + 100);
    call(trace, "pthread_cond_broadcast", START, start_ns + 110, start_ns + 111);
    if (waits_again)
        call(trace, "pthread_cond_wait", until, start_ns + 120, start_ns + 200);
    call(trace, "pthread_mutex_unlock", UNLOCK, start_ns + 210, start_ns + 210);
}

static void assert_calls(const struct event_log *log, size_t first, const enum api_op *calls,
                         size_t n) {
    for (size_t i = 0; i < n; i++)
        assert_int_equal(trace_op(&log->trace.threads[0].records[first + i]), calls[i]);
}

static void waits_for_two_things_are_two_sections(void **state) {
    (void)state;
    const enum api_op calls[] = {OP_LOCK, OP_WAIT, OP_BROADCAST, OP_UNLOCK,
                                 OP_LOCK, OP_WAIT, OP_UNLOCK};
    struct trace *trace = builder_new_with_workers(0);
    race(trace, 1000, DONE, true);
    struct event_log log = event_log_of(trace);
    section_splitting_apply(&log);
    assert_int_equal(log.trace.threads[0].n_records, 7);
    assert_calls(&log, 0, calls, 7);
    for (int i = 3; i <= 4; i++) {
        const struct trace_record *shown = &log.trace.threads[0].records[i];
        assert_true(shown->object == MUTEX && shown->start_ns == 1111 && shown->duration_ns == 0);
        assert_int_equal(shown->context, trace->threads[0].records[2].context);
    }
    assert_int_equal(trace->threads[0].n_records, 5); /* as it was */
    event_log_free(&log);
    trace_free(trace);
}

static void they_are_also_where_nobody_had_to_wait_again(void **state) {
    (void)state;
    const enum api_op calls[] = {OP_LOCK, OP_WAIT, OP_BROADCAST, OP_UNLOCK, OP_LOCK, OP_UNLOCK};
    struct trace *trace = builder_new_with_workers(0);
    race(trace, 1000, DONE, true);
    race(trace, 2000, DONE, false);
    struct event_log log = event_log_of(trace);
    section_splitting_apply(&log);
    assert_int_equal(log.trace.threads[0].n_records, 7 + 6);
    assert_calls(&log, 7, calls, 6);
    event_log_free(&log);
    trace_free(trace);
}

/* To wait again at the same place is to look again for the same thing. */
static void waits_for_one_thing_stay_one_section(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(0);
    race(trace, 1000, READY, true);
    race(trace, 2000, DONE, false);
    struct event_log log = event_log_of(trace);
    section_splitting_apply(&log);
    assert_int_equal(log.trace.threads[0].n_records, 5 + 4);
    event_log_free(&log);
    trace_free(trace);
}

static void waits_without_a_signal_between_are_one_section(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(0);
    call(trace, "pthread_mutex_lock", LOCK, 1000, 1000);
    call(trace, "pthread_cond_wait", READY, 1010, 1100);
    call(trace, "pthread_cond_wait", DONE, 1120, 1200);
    call(trace, "pthread_mutex_unlock", UNLOCK, 1210, 1210);
    struct event_log log = event_log_of(trace);
    section_splitting_apply(&log);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

/* It is another mutex that is taken last when the signal is made: this one is split. */
static void the_mutex_taken_last_is_the_one_that_is_split(void **state) {
    (void)state;
    enum { OUTER = 0x9000 };
    struct trace *trace = builder_new_with_workers(0);
    builder_call(trace, 0, "pthread_mutex_lock", 900, 900, OUTER, TRACE_NO_CONTEXT);
    race(trace, 1000, DONE, true);
    builder_call(trace, 0, "pthread_mutex_unlock", 1300, 1300, OUTER, TRACE_NO_CONTEXT);
    struct event_log log = event_log_of(trace);
    section_splitting_apply(&log);
    assert_int_equal(log.trace.threads[0].n_records, 1 + 7 + 1);
    for (size_t i = 4; i <= 5; i++)
        assert_int_equal(shown_call(&log, 0, i)->object, MUTEX);
    event_log_free(&log);
    trace_free(trace);
}

/* Who makes a thread and waits until that is up takes the mutex before it makes it: the wait is
 * behind the creation, or nobody would ever end it. */
static void a_creation_before_a_wait_parts_a_section(void **state) {
    (void)state;
    enum { CREATE = 6 };
    const enum api_op calls[] = {OP_LOCK, OP_CREATE, OP_UNLOCK, OP_LOCK, OP_WAIT,  OP_UNLOCK,
                                 OP_LOCK, OP_CREATE, OP_UNLOCK, OP_LOCK, OP_UNLOCK};
    struct trace *trace = builder_new_with_workers(2);
    uint32_t create = builder_context(trace, "start_and_await", CREATE, "main", 100);
    for (int i = 0; i < 2; i++) {
        uint64_t start_ns = 1000 * (uint64_t)(i + 1);
        call(trace, "pthread_mutex_lock", LOCK, start_ns, start_ns);
        builder_create(trace, 0, start_ns + 10, 5, create, i + 1);
        if (i == 0) /* the second one is up by the time when it is looked for */
            call(trace, "pthread_cond_wait", READY, start_ns + 20, start_ns + 100);
        call(trace, "pthread_mutex_unlock", UNLOCK, start_ns + 110, start_ns + 110);
    }
    struct event_log log = event_log_of(trace);
    section_splitting_apply(&log);
    assert_int_equal(log.trace.threads[0].n_records, 11);
    assert_calls(&log, 0, calls, 11);
    assert_int_equal(shown_call(&log, 0, 2)->start_ns, 1015);
    event_log_free(&log);
    trace_free(trace);
}

static void a_creation_without_a_wait_parts_none(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    call(trace, "pthread_mutex_lock", LOCK, 1000, 1000);
    call(trace, "pthread_cond_wait", READY, 1010, 1100);
    builder_create(trace, 0, 1110, 5, builder_context(trace, "start", 6, "main", 100), 1);
    call(trace, "pthread_mutex_unlock", UNLOCK, 1210, 1210);
    struct event_log log = event_log_of(trace);
    section_splitting_apply(&log);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_two_things_are_two_sections),
        cmocka_unit_test(they_are_also_where_nobody_had_to_wait_again),
        cmocka_unit_test(waits_for_one_thing_stay_one_section),
        cmocka_unit_test(waits_without_a_signal_between_are_one_section),
        cmocka_unit_test(the_mutex_taken_last_is_the_one_that_is_split),
        cmocka_unit_test(a_creation_before_a_wait_parts_a_section),
        cmocka_unit_test(a_creation_without_a_wait_parts_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
