/* Barriers of the program's own, at which threads spin before they sleep. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/spinning_barriers.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, FIRST = 1, LAST = 2, PARTIES = 2 };
enum { ROUNDS = 10, ROUND_NS = 10000, LATE_NS = 500, STAY_NS = 20 };

/* The lines of a visit's locks: where it arrives, where it looks again, and what is elsewhere. */
enum { ARRIVES = 10, LOOKS = 20, RESETS = 30 };

static void section(struct trace *trace, int thread, int line, uint64_t start_ns) {
    builder_section(trace, thread,
                    (struct builder_section){
                        .function = "meet", .line = line, .mutex = MUTEX, .start_ns = start_ns});
}

static uint64_t begin_of(uint64_t round) {
    return (round + 1) * ROUND_NS;
}

/* The first one arrives, spins, and looks again after so long. */
static void visit(struct trace *trace, uint64_t start_ns, uint64_t looks_ns) {
    section(trace, FIRST, ARRIVES, start_ns);
    builder_call(trace, FIRST, "sched_yield", start_ns + 10, start_ns + 10, 0, TRACE_NO_CONTEXT);
    section(trace, FIRST, LOOKS, start_ns + looks_ns);
}

/* In each round a worker arrives and another one LATE_NS after it, for which the first one waits;
 * in the round `hasty` (-1: in none) it does not. */
static struct trace *rounds_of_meetings(uint64_t rounds, int hasty) {
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t at = begin_of(round);
        visit(trace, at, (int)round == hasty ? LATE_NS / 2 : LATE_NS + STAY_NS);
        section(trace, LAST, ARRIVES, at + LATE_NS);
    }
    builder_finish(trace, begin_of(rounds));
    return trace;
}

static void assert_stays(const struct trace *trace) {
    struct event_log log = event_log_of(trace);
    spinning_barriers_as_barriers(&log);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
}

static void threads_that_always_wait_for_the_last_meet_at_a_barrier(void **state) {
    (void)state;
    struct trace *trace = rounds_of_meetings(ROUNDS, -1);
    struct event_log log = event_log_of(trace);
    spinning_barriers_as_barriers(&log);
    uint64_t object = shown_call(&log, FIRST, 0)->object;
    assert_int_not_equal(object, MUTEX);
    for (int thread = FIRST; thread <= LAST; thread++) {
        assert_int_equal(log.trace.threads[thread].n_records, ROUNDS);
        for (size_t round = 0; round < ROUNDS; round++) {
            const struct trace_record *call = shown_call(&log, thread, round);
            assert_int_equal(call->api, ROLE_barrier);
            assert_int_equal(call->object, object);
            assert_int_equal(call->value, PARTIES);
            assert_true(call->flags & TRACE_WAITED);
        }
    }
    /* a call lasts from the arrival until the visit's last unlock */
    const struct trace_record *waits = shown_call(&log, FIRST, 3),
                              *ends = shown_call(&log, LAST, 3);
    assert_int_equal(waits->start_ns, begin_of(3));
    assert_int_equal(waits->duration_ns, LATE_NS + STAY_NS + 3);
    assert_int_equal(ends->start_ns, begin_of(3) + LATE_NS);
    assert_int_equal(ends->duration_ns, 3);
    assert_int_equal(trace->threads[FIRST].n_records, 5 * ROUNDS); /* as it was */
    event_log_free(&log);
    trace_free(trace);
}

static void other_calls_stay_between_the_visits(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t at = begin_of(round);
        builder_call(trace, FIRST, "read", at - 100, at - 50, 3, TRACE_NO_CONTEXT);
        visit(trace, at, LATE_NS + STAY_NS);
        section(trace, LAST, ARRIVES, at + LATE_NS);
    }
    struct event_log log = event_log_of(trace);
    spinning_barriers_as_barriers(&log);
    assert_int_equal(count_shown(&log, FIRST, API_read), ROUNDS);
    assert_int_equal(count_shown(&log, FIRST, ROLE_barrier), ROUNDS);
    assert_int_equal(log.trace.threads[FIRST].n_records, 2 * ROUNDS);
    event_log_free(&log);
    trace_free(trace);
}

static void whoever_leaves_before_the_last_has_come_was_at_no_barrier(void **state) {
    (void)state;
    struct trace *trace = rounds_of_meetings(ROUNDS, 4);
    assert_stays(trace);
    trace_free(trace);
}

static void few_meetings_prove_nothing(void **state) {
    (void)state;
    struct trace *trace = rounds_of_meetings(7, -1);
    assert_stays(trace);
    trace_free(trace);
}

/* Another thread takes the mutex at a place where nobody arrives: it is about more than meetings.
 */
static void a_mutex_that_is_used_otherwise_too_is_no_barrier(void **state) {
    (void)state;
    struct trace *trace = rounds_of_meetings(ROUNDS, -1);
    int helper = builder_thread(trace, "helper", 0);
    section(trace, helper, RESETS, begin_of(ROUNDS) - 100);
    assert_stays(trace);
    trace_free(trace);
}

static void a_visit_that_nobody_else_makes_was_at_no_barrier(void **state) {
    (void)state;
    struct trace *trace = rounds_of_meetings(ROUNDS, -1);
    visit(trace, begin_of(ROUNDS), STAY_NS);
    assert_stays(trace);
    trace_free(trace);
}

/* Both are always there at once, but the last one stays on for as long as the first one: nobody
 * was waiting for it. */
static void visits_that_only_overlap_are_no_meetings(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        visit(trace, begin_of(round), LATE_NS);
        section(trace, LAST, ARRIVES, begin_of(round) + STAY_NS);
        section(trace, LAST, LOOKS, begin_of(round) + STAY_NS + LATE_NS);
    }
    assert_stays(trace);
    trace_free(trace);
}

/* One section each, which waits on a condition: a monitor, which is known otherwise. */
static void visits_that_are_one_section_are_left_to_others(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(PARTIES);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t at = begin_of(round);
        builder_section(trace, FIRST,
                        (struct builder_section){.function = "meet",
                                                 .line = ARRIVES,
                                                 .mutex = MUTEX,
                                                 .start_ns = at,
                                                 .waits_for = CONDITION,
                                                 .woken_ns = at + LATE_NS + 2});
        builder_section(trace, LAST,
                        (struct builder_section){.function = "meet",
                                                 .line = ARRIVES,
                                                 .mutex = MUTEX,
                                                 .start_ns = at + LATE_NS,
                                                 .signals_after = CONDITION,
                                                 .broadcasts = true});
    }
    assert_stays(trace);
    trace_free(trace);
}

static void a_thread_that_still_visits_at_the_end_makes_it_no_barrier(void **state) {
    (void)state;
    struct trace *trace = rounds_of_meetings(ROUNDS, -1);
    builder_unfinished(trace, FIRST);
    assert_stays(trace);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_always_wait_for_the_last_meet_at_a_barrier),
        cmocka_unit_test(other_calls_stay_between_the_visits),
        cmocka_unit_test(whoever_leaves_before_the_last_has_come_was_at_no_barrier),
        cmocka_unit_test(few_meetings_prove_nothing),
        cmocka_unit_test(a_mutex_that_is_used_otherwise_too_is_no_barrier),
        cmocka_unit_test(a_visit_that_nobody_else_makes_was_at_no_barrier),
        cmocka_unit_test(visits_that_only_overlap_are_no_meetings),
        cmocka_unit_test(visits_that_are_one_section_are_left_to_others),
        cmocka_unit_test(a_thread_that_still_visits_at_the_end_makes_it_no_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
