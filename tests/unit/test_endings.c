/* tracer/endings: sections that the program's end cut. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/trace_builder.h"
#include "tracer/endings.h"

enum { MUTEX = 0x100, OTHER = 0x200, CONDITION = 0x300, END_NS = 9000 };

/* A thread whose end nobody saw. */
static struct trace *one_thread(void) {
    struct trace *trace = builder_new(1);
    builder_thread(trace, "last", -1);
    trace->threads[0].end_seen = false;
    builder_finish(trace, END_NS);
    return trace;
}

static void call(struct trace *trace, const char *api, uint64_t object) {
    uint64_t now = 10 * (trace->threads[0].n_records + 1);
    builder_record(trace, 0, api, now, 0, object,
                   builder_context(trace, "done", (int)now, "last", 1), 0);
}

static const struct trace_record *last_of(const struct trace *trace) {
    return builder_last(trace, 0);
}

static void test_who_told_others_has_unlocked(void **state) {
    (void)state;
    struct trace *trace = one_thread();
    call(trace, "pthread_mutex_lock", MUTEX);
    call(trace, "pthread_cond_broadcast", CONDITION);
    endings_unlock(trace);
    assert_int_equal(trace->threads[0].n_records, 3);
    assert_int_equal(trace_op(last_of(trace)), OP_UNLOCK);
    assert_int_equal(last_of(trace)->object, MUTEX);
    assert_int_equal(last_of(trace)->start_ns, END_NS);
    assert_int_equal(last_of(trace)->context, trace->threads[0].records[0].context);
    assert_true(last_of(trace)->flags & TRACE_UNFINISHED);
    trace_free(trace);
}

/* The calls of a wrapper are no wrapper's if one of them unlocks where the others lock. */
static void test_a_cut_section_ends_as_others_did(void **state) {
    (void)state;
    struct trace *trace = one_thread();
    const char *const calls[] = {"pthread_mutex_lock", "pthread_cond_signal",
                                 "pthread_mutex_unlock", "pthread_mutex_lock",
                                 "pthread_cond_signal"};
    for (int i = 0; i < 5; i++)
        builder_record(trace, 0, calls[i], 10 * (uint64_t)(i + 1), 0,
                       i % 3 == 1 ? CONDITION : MUTEX,
                       builder_context(trace, "done", 1 + i % 3, "last", 1), 0);
    endings_unlock(trace);
    assert_int_equal(trace->threads[0].n_records, 6);
    assert_int_equal(last_of(trace)->api, API_pthread_mutex_unlock);
    assert_int_equal(last_of(trace)->context, trace->threads[0].records[2].context);
    trace_free(trace);
}

static void test_who_told_nobody_may_be_in_the_middle(void **state) {
    (void)state;
    struct trace *trace = one_thread();
    call(trace, "pthread_mutex_lock", MUTEX);
    endings_unlock(trace);
    assert_int_equal(trace->threads[0].n_records, 1);
    call(trace, "pthread_cond_signal", CONDITION);
    call(trace, "pthread_cond_wait", CONDITION); /* and waits itself again */
    endings_unlock(trace);
    assert_int_equal(trace->threads[0].n_records, 3);
    trace_free(trace);
}

static void test_what_is_unlocked_stays_so(void **state) {
    (void)state;
    struct trace *trace = one_thread();
    call(trace, "pthread_mutex_lock", OTHER);
    call(trace, "pthread_mutex_lock", MUTEX);
    call(trace, "pthread_cond_signal", CONDITION);
    call(trace, "pthread_mutex_unlock", MUTEX);
    endings_unlock(trace);
    assert_int_equal(trace->threads[0].n_records, 4);
    trace_free(trace);
}

static void test_a_thread_that_ended_is_told_whole(void **state) {
    (void)state;
    struct trace *trace = one_thread();
    call(trace, "pthread_mutex_lock", MUTEX);
    call(trace, "pthread_cond_signal", CONDITION);
    trace->threads[0].end_seen = true;
    endings_unlock(trace);
    assert_int_equal(trace->threads[0].n_records, 2);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_told_others_has_unlocked),
        cmocka_unit_test(test_a_cut_section_ends_as_others_did),
        cmocka_unit_test(test_who_told_nobody_may_be_in_the_middle),
        cmocka_unit_test(test_what_is_unlocked_stays_so),
        cmocka_unit_test(test_a_thread_that_ended_is_told_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
