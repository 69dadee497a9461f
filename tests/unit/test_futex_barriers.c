/* Barriers whose threads wait by a futex, and futexes that are none. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "modelgen/rewrite/futex_barriers.h"
#include "modelgen/rewrite/futexes.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { WORD = 0x1000, OTHER_WORD = 0x2000, A = 1, B = 2, PARTIES = 2, ALL = INT32_MAX };
enum { ROUNDS = 20, ROUND_NS = 1000000, LATE_NS = 200000, WAKE_NS = 5000 };
enum { WAITS = 10, WAKES = 20, YIELDS = 30, CALLED = 100 };

static uint32_t at_line(struct trace *trace, int line) {
    return builder_context(trace, "meet", line, "worker", CALLED);
}

static void yield(struct trace *trace, int thread, uint64_t start_ns) {
    builder_call(trace, thread, "sched_yield", start_ns, start_ns + 1000, 0,
                 at_line(trace, YIELDS));
}

static void wait(struct trace *trace, int thread, uint64_t start_ns, uint64_t end_ns) {
    builder_call(trace, thread, "syscall_futex_wait", start_ns, end_ns, WORD,
                 at_line(trace, WAITS));
}

static void wake(struct trace *trace, int thread, uint64_t start_ns, int most) {
    builder_record(trace, thread, "syscall_futex_wake", start_ns, WAKE_NS, WORD,
                   at_line(trace, WAKES), most);
}

static uint64_t end_of(uint64_t round) {
    return (round + 1) * ROUND_NS;
}

/* The one yields and waits for the other, which comes LATE_NS later and wakes it. */
static void meet(struct trace *trace, uint64_t round, int first, int last, int most) {
    yield(trace, first, end_of(round) - LATE_NS);
    wait(trace, first, end_of(round) - LATE_NS + 2000, end_of(round) + WAKE_NS);
    wake(trace, last, end_of(round), most);
}

static struct trace *meetings(int most) {
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++)
        meet(trace, round, round % 3 ? A : B, round % 3 ? B : A, most);
    builder_finish(trace, end_of(ROUNDS));
    return trace;
}

static size_t count_barriers(const struct event_log *log, int thread) {
    return count_shown(log, thread, ROLE_barrier);
}

static void assert_no_barrier(const struct trace *trace) {
    struct event_log log = event_log_of(trace);
    futex_barriers_as_barriers(&log);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
}

static void whoever_comes_last_wakes_all_others_at_a_barrier(void **state) {
    (void)state;
    struct trace *trace = meetings(ALL);
    struct event_log log = event_log_of(trace);
    futex_barriers_as_barriers(&log);
    for (int thread = A; thread <= B; thread++) {
        assert_int_equal(log.trace.threads[thread].n_records, ROUNDS);
        assert_int_equal(count_barriers(&log, thread), ROUNDS);
        for (size_t round = 0; round < ROUNDS; round++) {
            const struct trace_record *call = shown_call(&log, thread, round);
            assert_int_equal(call->value, PARTIES);
            assert_int_not_equal(call->object, WORD);
            /* all came from one place, whatever they did there */
            assert_int_equal(call->context, at_line(trace, WAITS));
        }
    }
    /* in round 1 thread A waits: from its first yield on */
    assert_int_equal(shown_call(&log, A, 1)->start_ns, end_of(1) - LATE_NS);
    assert_int_equal(shown_call(&log, A, 1)->duration_ns, LATE_NS + WAKE_NS);
    assert_int_equal(shown_call(&log, B, 1)->start_ns, end_of(1));
    event_log_free(&log);
    trace_free(trace);
}

/* It comes right before the other one, or yields until that has come. */
static void a_thread_that_did_not_have_to_wait_came_to_the_barrier_too(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++)
        if (round == 7)
            wake(trace, B, end_of(round), ALL);
        else if (round == 8) {
            builder_call(trace, A, "sched_yield", end_of(round) - 1000, end_of(round) + 1000, 0,
                         at_line(trace, YIELDS));
            wake(trace, B, end_of(round), ALL);
        } else
            meet(trace, round, round % 2 ? A : B, round % 2 ? B : A, ALL);
    builder_finish(trace, end_of(ROUNDS));
    struct event_log log = event_log_of(trace);
    futex_barriers_as_barriers(&log);
    assert_int_equal(count_barriers(&log, A), ROUNDS);
    assert_int_equal(count_barriers(&log, B), ROUNDS);
    assert_int_equal(shown_call(&log, A, 7)->start_ns, end_of(7));
    assert_int_equal(shown_call(&log, A, 7)->duration_ns, 0);
    assert_int_equal(shown_call(&log, A, 7)->context, at_line(trace, WAITS));
    assert_int_equal(shown_call(&log, A, 8)->duration_ns, 2000);
    assert_int_equal(shown_call(&log, A, 8)->context, at_line(trace, WAITS));
    event_log_free(&log);
    trace_free(trace);
}

/* It has said that it is there, and the other one wakes all before it comes to wait. */
static void a_wait_that_begins_behind_the_wake_was_for_it(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        int first = round % 2 ? A : B, last = round % 2 ? B : A;
        if (round % 4 == 1) {
            yield(trace, first, end_of(round) - 2000);
            wake(trace, last, end_of(round), ALL);
        } else if (round % 4 == 2) {
            wake(trace, last, end_of(round), ALL);
        } else {
            meet(trace, round, first, last, ALL);
            continue;
        }
        wait(trace, first, end_of(round) + 100, end_of(round) + 600);
        builder_last(trace, first)->flags |= TRACE_FAILED;
    }
    builder_finish(trace, end_of(ROUNDS));
    struct event_log log = event_log_of(trace);
    futex_barriers_as_barriers(&log);
    assert_int_equal(count_barriers(&log, A), ROUNDS);
    assert_int_equal(count_barriers(&log, B), ROUNDS);
    assert_int_equal(shown_call(&log, A, 1)->start_ns, end_of(1) - 2000);
    assert_int_equal(trace_end_ns(shown_call(&log, A, 1)), end_of(1) + 600);
    assert_int_equal(shown_call(&log, B, 2)->start_ns, end_of(2) + 100);
    event_log_free(&log);
    trace_free(trace);
}

static void a_lock_that_wakes_one_is_no_barrier(void **state) {
    (void)state;
    struct trace *trace = meetings(1);
    assert_no_barrier(trace);
    trace_free(trace);
}

static void who_is_woken_by_always_the_same_other_kind_of_thread_is_at_no_barrier(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        wake(trace, 0, end_of(round), ALL);
        for (int thread = A; thread <= B; thread++)
            wait(trace, thread, end_of(round) - LATE_NS, end_of(round) + WAKE_NS);
    }
    builder_finish(trace, end_of(ROUNDS));
    assert_no_barrier(trace);
    trace_free(trace);
}

static void threads_that_miss_rounds_are_at_no_barrier(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++)
        if (round % 5)
            meet(trace, round, round % 2 ? A : B, round % 2 ? B : A, ALL);
        else
            wake(trace, round % 2 ? B : A, end_of(round), ALL);
    builder_finish(trace, end_of(ROUNDS));
    assert_no_barrier(trace);
    trace_free(trace);
}

static void who_leaves_before_it_is_woken_was_at_no_barrier(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        int first = round % 2 ? A : B, last = round % 2 ? B : A;
        wait(trace, first, end_of(round) - LATE_NS, end_of(round) - LATE_NS / 2);
        wake(trace, last, end_of(round), ALL);
    }
    builder_finish(trace, end_of(ROUNDS));
    assert_no_barrier(trace);
    trace_free(trace);
}

static void few_rounds_prove_nothing(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < 7; round++)
        meet(trace, round, round % 2 ? A : B, round % 2 ? B : A, ALL);
    builder_finish(trace, end_of(ROUNDS));
    assert_no_barrier(trace);
    trace_free(trace);
}

static void two_barriers_are_two(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        meet(trace, round, round % 4 < 2 ? A : B, round % 4 < 2 ? B : A, ALL);
        for (int thread = A; thread <= B && round % 2; thread++)
            builder_last(trace, thread)->object = OTHER_WORD;
    }
    builder_finish(trace, end_of(ROUNDS));
    struct event_log log = event_log_of(trace);
    futex_barriers_as_barriers(&log);
    assert_int_equal(log.origins.count, 2);
    assert_int_equal(count_barriers(&log, A), ROUNDS);
    assert_int_equal(count_barriers(&log, B), ROUNDS);
    assert_int_equal(shown_call(&log, A, 1)->object, shown_call(&log, B, 1)->object);
    assert_int_not_equal(shown_call(&log, A, 1)->object, shown_call(&log, A, 2)->object);
    event_log_free(&log);
    trace_free(trace);
}

static void what_nobody_understands_is_left_out(void **state) {
    (void)state;
    struct trace *trace = meetings(1);
    struct event_log log = event_log_of(trace);
    futexes_left_out(&log);
    assert_int_equal(count_shown(&log, A, API_syscall_futex_wait), 0);
    assert_int_equal(count_shown(&log, B, API_syscall_futex_wake), 0);
    assert_true(count_shown(&log, A, API_sched_yield) > 0);
    event_log_free(&log);
    trace_free(trace);
}

static size_t barriers_in(const struct model *model) {
    size_t n = 0;
    for (size_t o = 0; o < model->n_objects; o++)
        n += model->objects[o].kind == OBJECT_BARRIER;
    return n;
}

/* Stalls with a barrier, if it is to. */
static struct modelgen_trial try_out(const struct model *model, void *context) {
    const bool *stalls = context;
    bool fails = *stalls && barriers_in(model) > 0;
    return (struct modelgen_trial){.misfit = fails ? 0.9 : 0.01, .stalls = fails, .fails = fails};
}

/* Two threads that hand a lock on to each other wait and wake by turns, too. */
static void what_stalls_as_a_barrier_is_none(void **state) {
    (void)state;
    for (int stalls = 0; stalls < 2; stalls++) {
        struct trace *trace = meetings(ALL);
        bool ever = stalls;
        struct modelgen_options options = {.try_out = try_out, .context = &ever};
        struct error error = {0};
        struct model *model = modelgen_build(trace, NULL, NULL, &options, &error);
        assert_non_null(model);
        assert_int_equal(barriers_in(model), stalls ? 0 : 1);
        model_free(model);
        trace_free(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_comes_last_wakes_all_others_at_a_barrier),
        cmocka_unit_test(a_thread_that_did_not_have_to_wait_came_to_the_barrier_too),
        cmocka_unit_test(what_stalls_as_a_barrier_is_none),
        cmocka_unit_test(a_wait_that_begins_behind_the_wake_was_for_it),
        cmocka_unit_test(a_lock_that_wakes_one_is_no_barrier),
        cmocka_unit_test(who_is_woken_by_always_the_same_other_kind_of_thread_is_at_no_barrier),
        cmocka_unit_test(threads_that_miss_rounds_are_at_no_barrier),
        cmocka_unit_test(who_leaves_before_it_is_woken_was_at_no_barrier),
        cmocka_unit_test(few_rounds_prove_nothing),
        cmocka_unit_test(two_barriers_are_two),
        cmocka_unit_test(what_nobody_understands_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
