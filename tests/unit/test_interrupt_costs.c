/* Wake-ups that interrupt another core, in traces written by hand, and what is left of the wakers'
 * CPU time. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/interrupt_costs.h"
#include "modelgen/events/thread_states.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL

enum { WAKER, SLEEPER, OTHER, COST = 10 * US, PREEMPT = 15 * US };

/* The waker computes on core 0 all the time and unlocks something at 100 us. */
static struct trace *busy_waker(void) {
    struct trace *trace = builder_new_with_workers(2);
    trace->meta.has_wakes = true;
    trace->meta.wake_cpu_ns = COST;
    trace->meta.preempt_ns = PREEMPT;
    builder_run(trace, WAKER, 0, 0, 0, 1000 * US, false);
    builder_record(trace, WAKER, "pthread_mutex_unlock", 100 * US, 0, 0x1000, TRACE_NO_CONTEXT, 0);
    return trace;
}

/* CPU of the waker from its start up to `until_ns` that is left; frees the trace at the end. */
static double waker_cpu(struct trace *trace, uint64_t until_ns) {
    builder_finish(trace, 1000 * US);
    struct excluded_time interrupts = interrupt_costs_find(trace);
    struct thread_states timeline = thread_states_make(&trace->threads[WAKER]);
    thread_states_leave_out(&timeline, &interrupts);
    double cpu_ns = thread_states_cpu(&timeline, until_ns);
    thread_states_free(&timeline);
    free(interrupts.items);
    return cpu_ns;
}

static double all_of_it(struct trace *trace) {
    double cpu_ns = waker_cpu(trace, 1000 * US);
    trace_free(trace);
    return cpu_ns;
}

static void waking_a_thread_on_an_idle_core_takes_cpu_of_its_waker(void **state) {
    (void)state;
    struct trace *trace = busy_waker();
    builder_run(trace, SLEEPER, 1, 101 * US, 120 * US, 200 * US, false);
    assert_true(waker_cpu(trace, 101 * US) == 101 * US);
    assert_true(waker_cpu(trace, 105 * US) == 101 * US);
    assert_true(waker_cpu(trace, 151 * US) == 141 * US);
    assert_true(all_of_it(trace) == 990 * US);
}

/* A call that lasts from 90 to 150 us without ever leaving the core. */
static void what_is_left_out_of_a_call_is_no_wait(void **state) {
    (void)state;
    struct trace *trace = busy_waker();
    builder_run(trace, SLEEPER, 1, 101 * US, 120 * US, 200 * US, false);
    assert_true(waker_cpu(trace, 150 * US) - waker_cpu(trace, 90 * US) == 60 * US - COST);
    struct excluded_time interrupts = interrupt_costs_find(trace);
    struct thread_states timeline = thread_states_make(&trace->threads[WAKER]);
    thread_states_leave_out(&timeline, &interrupts);
    assert_true(thread_states_blocked(&timeline, 90 * US, 150 * US) == 0);
    thread_states_free(&timeline);
    timeline = thread_states_make(&trace->threads[SLEEPER]);
    assert_true(thread_states_blocked(&timeline, 0, 300 * US) == 101 * US + 100 * US);
    thread_states_free(&timeline);
    free(interrupts.items);
    trace_free(trace);
}

static void on_the_wakers_own_core_nothing_is_interrupted(void **state) {
    (void)state;
    struct trace *trace = busy_waker();
    trace->threads[WAKER].slices[0].off_ns = 102 * US;
    trace->threads[WAKER].slices[0].preempted = true;
    builder_run(trace, SLEEPER, 0, 101 * US, 102 * US, 200 * US, false);
    assert_true(all_of_it(trace) == 102 * US);
}

static void who_has_called_nothing_for_long_is_no_waker(void **state) {
    (void)state;
    struct trace *trace = busy_waker();
    builder_run(trace, SLEEPER, 1, 500 * US, 520 * US, 600 * US,
                false); /* a timer, another program */
    assert_true(all_of_it(trace) == 1000 * US);
}

static void a_busy_core_is_interrupted_for_who_takes_over_at_once(void **state) {
    (void)state;
    const uint64_t off_us[] = {101 + 15, 101 + 200}; /* 200 us later: the slice was over */
    for (int i = 0; i < 2; i++) {
        struct trace *trace = busy_waker();
        uint64_t off_ns = off_us[i] * US;
        builder_run(trace, OTHER, 1, 0, 0, off_ns, true);
        builder_run(trace, SLEEPER, 1, 101 * US, off_ns + US, off_ns + 50 * US, false);
        builder_run(trace, OTHER, 1, 0, off_ns + 51 * US, 900 * US, false);
        assert_true(all_of_it(trace) == (i == 0 ? 990 : 1000) * US);
    }
}

static void who_waits_its_turn_on_a_busy_core_interrupts_nobody(void **state) {
    (void)state;
    struct trace *trace = busy_waker();
    builder_run(trace, OTHER, 1, 0, 0, 110 * US, false); /* it blocks */
    builder_run(trace, SLEEPER, 1, 101 * US, 111 * US, 200 * US, false);
    assert_true(all_of_it(trace) == 1000 * US);
}

/* The second one is on its way to a third core when the first interrupt is being sent. */
static void interrupts_of_one_call_follow_each_other(void **state) {
    (void)state;
    struct trace *trace = busy_waker();
    builder_run(trace, SLEEPER, 1, 101 * US, 120 * US, 200 * US, false);
    builder_run(trace, OTHER, 2, 104 * US, 140 * US, 200 * US, false);
    assert_true(waker_cpu(trace, 121 * US) == 101 * US);
    assert_true(all_of_it(trace) == 980 * US);
}

static void without_a_known_cost_nothing_is_left_out(void **state) {
    (void)state;
    struct trace *trace = busy_waker();
    trace->meta.wake_cpu_ns = 0;
    builder_run(trace, SLEEPER, 1, 101 * US, 120 * US, 200 * US, false);
    assert_true(all_of_it(trace) == 1000 * US);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waking_a_thread_on_an_idle_core_takes_cpu_of_its_waker),
        cmocka_unit_test(what_is_left_out_of_a_call_is_no_wait),
        cmocka_unit_test(on_the_wakers_own_core_nothing_is_interrupted),
        cmocka_unit_test(who_has_called_nothing_for_long_is_no_waker),
        cmocka_unit_test(a_busy_core_is_interrupted_for_who_takes_over_at_once),
        cmocka_unit_test(who_waits_its_turn_on_a_busy_core_interrupts_nobody),
        cmocka_unit_test(interrupts_of_one_call_follow_each_other),
        cmocka_unit_test(without_a_known_cost_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
