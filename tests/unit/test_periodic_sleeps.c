/* Sleeps until the next point of a grid in time. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/periodic_sleeps.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { PERIOD_NS = 1000, FRAMES = 20 };

/* What each frame takes. */
static uint64_t work_ns(int frame) {
    return 300 + (uint64_t)(frame * 7 % 10) * 10;
}

/* A thread that works and sleeps by turns; `sleep_ns` tells how long. */
static struct trace *busy_frames(int n, uint64_t (*busy_ns)(int frame),
                                 uint64_t (*sleep_ns)(int frame, uint64_t now_ns)) {
    struct trace *trace = builder_new(8);
    int thread = builder_thread(trace, "main", -1);
    uint32_t place = builder_context(trace, "clock_nanosleep", 10, "main", 20);
    uint64_t now_ns = 0;
    for (int i = 0; i < n; i++) {
        now_ns += busy_ns(i);
        uint64_t asleep_ns = sleep_ns(i, now_ns);
        builder_record(trace, thread, "clock_nanosleep", now_ns, asleep_ns, 0, place, 0);
        now_ns += asleep_ns;
    }
    builder_finish(trace, now_ns + 10);
    return trace;
}

static struct trace *frames(int n, uint64_t (*sleep_ns)(int frame, uint64_t now_ns)) {
    return busy_frames(n, work_ns, sleep_ns);
}

static uint64_t nothing_to_do(int frame) {
    (void)frame;
    return 1;
}

/* A little late, as timers are. */
static uint64_t until_due(int frame, uint64_t now_ns) {
    return (uint64_t)(frame + 1) * PERIOD_NS + (uint64_t)(frame % 3) - now_ns;
}

static uint64_t as_long_each(int frame, uint64_t now_ns) {
    (void)now_ns;
    return PERIOD_NS - 340 + (uint64_t)(frame % 3);
}

/* Each is late by something else, and nothing is done in between: the next one is shorter. */
static uint64_t until_due_but_late(int frame, uint64_t now_ns) {
    return (uint64_t)(frame + 1) * PERIOD_NS + (uint64_t)(frame * 7 % 10) * 9 - now_ns;
}

/* Each sleeps the less the longer it has worked, but not for the rest of any period. */
static uint64_t by_turns(int frame, uint64_t now_ns) {
    (void)now_ns;
    return (frame % 2 ? 200U : 2000U) - work_ns(frame) / 2;
}

static void who_sleeps_until_a_frame_is_due_waits_for_a_timer(void **state) {
    (void)state;
    struct trace *trace = frames(FRAMES, until_due);
    struct event_log log = event_log_of(trace);
    assert_int_equal(periodic_sleeps_as_timers(&log), FRAMES);
    for (size_t i = 0; i < FRAMES; i++) {
        const struct trace_record *timer = shown_call(&log, 0, i);
        assert_int_equal(timer->api, ROLE_timer);
        assert_in_range(timer->object, PERIOD_NS - 2, PERIOD_NS + 2);
        assert_int_equal(timer->start_ns, trace->threads[0].records[i].start_ns);
    }
    event_log_free(&log);
    trace_free(trace);
}

static void who_sleeps_the_less_after_a_late_end_waits_for_a_timer(void **state) {
    (void)state;
    struct trace *trace = busy_frames(FRAMES, nothing_to_do, until_due_but_late);
    struct event_log log = event_log_of(trace);
    assert_int_equal(periodic_sleeps_as_timers(&log), FRAMES);
    event_log_free(&log);
    trace_free(trace);
}

static void assert_stays(struct trace *trace) {
    struct event_log log = event_log_of(trace);
    assert_int_equal(periodic_sleeps_as_timers(&log), 0);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
    trace_free(trace);
}

static void pauses_that_are_alike_are_no_timer(void **state) {
    (void)state;
    assert_stays(frames(FRAMES, as_long_each));
}

static uint64_t pause_late(int frame, uint64_t now_ns) {
    (void)now_ns;
    return PERIOD_NS + (uint64_t)(frame * 7 % 10) * 9;
}

static void pauses_that_end_late_are_no_timer(void **state) {
    (void)state;
    assert_stays(busy_frames(FRAMES, nothing_to_do, pause_late));
}

static void periods_that_differ_are_none(void **state) {
    (void)state;
    assert_stays(frames(FRAMES, by_turns));
}

static void a_few_frames_are_chance(void **state) {
    (void)state;
    assert_stays(frames(8, until_due));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_sleeps_until_a_frame_is_due_waits_for_a_timer),
        cmocka_unit_test(who_sleeps_the_less_after_a_late_end_waits_for_a_timer),
        cmocka_unit_test(pauses_that_are_alike_are_no_timer),
        cmocka_unit_test(pauses_that_end_late_are_no_timer),
        cmocka_unit_test(periods_that_differ_are_none),
        cmocka_unit_test(a_few_frames_are_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
