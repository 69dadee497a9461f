/* Where the time of a thread went. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/thread_states.h"
#include "tests/unit/trace_builder.h"

static void every_nanosecond_belongs_to_one_part(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    int thread = builder_thread(trace, "main", -1);
    uint32_t here = builder_context(trace, "f", 10, "main", 100);
    builder_slice(trace, thread, 0, 100);
    builder_slice(trace, thread, 250, 300); /* preempted for 150 */
    trace->threads[thread].slices[0].preempted = 1;
    builder_slice(trace, thread, 700, 1000); /* waited 390 in the barrier, 10 unexplained */
    builder_record(trace, thread, "pthread_barrier_wait", 310, 390, 1, here, 0);
    builder_finish(trace, 1000);
    struct thread_states timeline = thread_states_make(&trace->threads[thread]);
    struct thread_states_totals parts = thread_states_totals(&timeline);
    assert_true(parts.cpu_ns == 450);
    assert_true(parts.ready_ns == 150);
    assert_true(parts.wait_ns == 390);
    assert_true(parts.unexplained_ns == 10);
    assert_true(parts.cpu_ns + parts.ready_ns + parts.wait_ns + parts.unexplained_ns ==
                parts.life_ns);
    thread_states_free(&timeline);
    trace_free(trace);
}

static void who_is_preempted_does_not_sleep(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    int main = builder_thread(trace, "main", -1);
    builder_slice(trace, main, 0, 100);
    builder_slice(trace, main, 250, 300);
    trace->threads[main].slices[0].preempted = 1;
    builder_slice(trace, main, 700, 1000);
    builder_finish(trace, 1000);
    const struct trace_thread *thread = &trace->threads[main];
    assert_int_equal(thread_states_sleeps(thread, 0, 1000), 1);
    assert_int_equal(thread_states_sleeps(thread, 0, 300), 0);
    assert_int_equal(thread_states_sleeps(thread, 260, 400), 1);
    assert_int_equal(thread_states_sleeps(thread, 400, 1001), 1); /* its last slice */
    trace_free(trace);
}

/* Without scheduling records all time outside of blocking calls counts as CPU. */
static void without_slices_what_is_no_wait_was_computed(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    int thread = builder_thread(trace, "main", -1);
    builder_record(trace, thread, "pthread_barrier_wait", 100, 300, 1, TRACE_NO_CONTEXT, 0);
    builder_finish(trace, 1000);
    struct thread_states timeline = thread_states_make(&trace->threads[thread]);
    assert_true(thread_states_cpu(&timeline, 100) == 100);
    assert_true(thread_states_cpu(&timeline, 250) == 100); /* in the middle of the wait */
    assert_true(thread_states_cpu(&timeline, 1000) == 700);
    thread_states_free(&timeline);
    trace_free(trace);
}

static void what_is_left_out_is_no_cpu_time_and_no_wait(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    builder_run(trace, thread, 1, 0, 0, 1000, false);
    builder_finish(trace, 1000);
    struct excluded_interval items[] = {
        {.from_ns = 500, .to_ns = 600, .share = 0.5, .cpu = 1},
        {.from_ns = 100, .to_ns = 200, .share = 1, .cpu = 1},
        {.from_ns = 300, .to_ns = 400, .share = 1, .cpu = 0}, /* another core */
    };
    struct excluded_time losses = {.items = items, .count = 3};
    excluded_time_sort(&losses);
    assert_int_equal(items[0].cpu, 0);
    assert_int_equal(items[1].from_ns, 100);
    struct thread_states timeline = thread_states_make(&trace->threads[thread]);
    thread_states_leave_out(&timeline, &losses);
    assert_true(thread_states_cpu(&timeline, 150) == 100);
    assert_true(thread_states_cpu(&timeline, 1000) == 850);
    assert_true(thread_states_blocked(&timeline, 0, 1000) == 0);
    thread_states_free(&timeline);
    trace_free(trace);
}

/* Slices that lie before and behind that, too. */
static void only_what_is_kept_counts_as_cpu_time(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    int thread = builder_thread(trace, "main", -1);
    builder_run(trace, thread, 0, 0, 10, 100, false);
    builder_run(trace, thread, 0, 0, 200, 400, false);
    builder_run(trace, thread, 0, 0, 500, 600, false);
    builder_run(trace, thread, 0, 0, 900, 1000, false);
    builder_finish(trace, 1000);
    struct thread_states timeline = thread_states_make(&trace->threads[thread]);
    thread_states_keep_between(&timeline, 300, 550);
    assert_true(thread_states_cpu(&timeline, 150) == 0);
    assert_true(thread_states_cpu(&timeline, 350) == 50);
    assert_true(thread_states_cpu(&timeline, 520) == 120);
    assert_true(thread_states_cpu(&timeline, 1000) == 150);
    thread_states_free(&timeline);
    trace_free(trace);
}

static void a_wake_up_tells_since_when_a_thread_was_ready(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    int thread = builder_thread(trace, "main", -1);
    builder_run(trace, thread, 0, 0, 0, 100, false);
    builder_run(trace, thread, 0, 250, 300, 400, false);
    builder_finish(trace, 400);
    struct thread_states timeline = thread_states_make(&trace->threads[thread]);
    assert_true(thread_states_ready(&timeline, 0, 400) == 50);
    assert_true(thread_states_blocked(&timeline, 0, 400) == 150);
    assert_int_equal(thread_states_woken(&trace->threads[thread], 100, 400), 250);
    assert_int_equal(thread_states_woken(&trace->threads[thread], 260, 400), 0);
    thread_states_free(&timeline);
    trace_free(trace);
}

static void slices_are_copied_as_far_as_they_lie_within(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    int from = builder_thread(trace, "main", -1), to = builder_thread(trace, "part", 0);
    builder_run(trace, from, 0, 0, 0, 100, false);
    builder_run(trace, from, 0, 190, 200, 300, false);
    builder_run(trace, from, 0, 0, 400, 500, false);
    thread_states_copy_slices(&trace->threads[from], 50, 250, &trace->threads[to]);
    const struct trace_thread *part = &trace->threads[to];
    assert_int_equal(part->n_slices, 2);
    assert_int_equal(part->slices[0].on_ns, 50);
    assert_int_equal(part->slices[0].off_ns, 100);
    assert_int_equal(part->slices[1].wake_ns, 190);
    assert_int_equal(part->slices[1].off_ns, 250);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_nanosecond_belongs_to_one_part),
        cmocka_unit_test(without_slices_what_is_no_wait_was_computed),
        cmocka_unit_test(who_is_preempted_does_not_sleep),
        cmocka_unit_test(what_is_left_out_is_no_cpu_time_and_no_wait),
        cmocka_unit_test(only_what_is_kept_counts_as_cpu_time),
        cmocka_unit_test(a_wake_up_tells_since_when_a_thread_was_ready),
        cmocka_unit_test(slices_are_copied_as_far_as_they_lie_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
