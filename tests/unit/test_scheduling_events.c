/* What the scheduler did with all threads, in the order of time. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/scheduling_events.h"
#include "tests/unit/trace_builder.h"

/* Main is preempted, goes on on another core, sleeps and is woken; the worker takes over its core.
 */
static struct scheduling_events events_of(struct trace **trace) {
    *trace = builder_new_with_workers(1);
    builder_run(*trace, 0, 0, 0, 0, 10, true);
    builder_run(*trace, 0, 1, 0, 15, 20, false);
    builder_run(*trace, 0, 1, 30, 32, 40, false);
    builder_run(*trace, 1, 0, 0, 10, 40, false);
    builder_finish(*trace, 40);
    return scheduling_events_collect(*trace);
}

static void they_come_by_time_and_off_before_ready_before_on(void **state) {
    (void)state;
    const struct {
        uint64_t time_ns;
        enum scheduling_kind kind;
        size_t thread;
    } expected[] = {{0, SCHEDULING_ON, 0},     {10, SCHEDULING_OFF, 0}, {10, SCHEDULING_READY, 0},
                    {10, SCHEDULING_ON, 1},    {15, SCHEDULING_ON, 0},  {20, SCHEDULING_OFF, 0},
                    {30, SCHEDULING_READY, 0}, {32, SCHEDULING_ON, 0}};
    struct trace *trace;
    struct scheduling_events events = events_of(&trace);
    assert_int_equal(events.count, 10);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(events.items[i].time_ns, expected[i].time_ns);
        assert_int_equal(events.items[i].kind, expected[i].kind);
        assert_int_equal(events.items[i].thread, expected[i].thread);
    }
    scheduling_events_free(&events);
    trace_free(trace);
}

static void who_is_preempted_or_woken_is_ready_until_it_runs(void **state) {
    (void)state;
    struct trace *trace;
    struct scheduling_events events = events_of(&trace);
    const struct scheduling_event *preempted = &events.items[2], *woken = &events.items[6];
    assert_true(preempted->preempted && preempted->latency_ns == 5);
    assert_int_equal(preempted->home, 0);
    assert_int_equal(preempted->cpu, 1);
    assert_true(!woken->preempted && woken->latency_ns == 2);
    assert_int_equal(woken->ran_ns, 20);
    assert_int_equal(events.items[7].ready_ns, 30);
    assert_int_equal(events.items[3].ready_ns, 0); /* it began there */
    scheduling_events_free(&events);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_come_by_time_and_off_before_ready_before_on),
        cmocka_unit_test(who_is_preempted_or_woken_is_ready_until_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
