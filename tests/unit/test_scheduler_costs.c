/* What scheduling costs and does, measured in traces written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/scheduler_costs.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL
#define MS 1000000ULL

enum { ROUNDS = 40 };

static struct trace *two_workers(void) {
    struct trace *trace = builder_new_with_workers(2);
    trace->meta.has_wakes = true;
    return trace;
}

static struct machine measure(struct trace *trace) {
    struct model *model = memory_alloc(1, sizeof *model);
    builder_finish(trace, (ROUNDS + 1) * 10 * MS);
    scheduler_costs_measure(trace, model);
    struct machine machine = model->machine;
    machine.wake_latency_ns.values = machine.brief_latency_ns.values = NULL;
    model_free(model);
    trace_free(trace);
    return machine;
}

/* Thread 1 finds core 0 idle; thread 2 comes while 1 is on its way, runs after it, and is preempted
 * and goes on. */
static void only_wake_ups_on_idle_cores_show_the_latency(void **state) {
    (void)state;
    struct trace *trace = two_workers();
    for (uint64_t at = 10 * MS; at <= ROUNDS * 10 * MS; at += 10 * MS) {
        builder_run(trace, 1, 0, at, at + 10 * US, at + 100 * US, false);
        builder_run(trace, 2, 0, at + 5 * US, at + 101 * US, at + 150 * US, true);
        builder_run(trace, 2, 0, at + 150 * US, at + 190 * US, at + 200 * US, false);
    }
    struct machine machine = measure(trace);
    assert_true(machine.wake_latency_ns.mean == 10 * US);
}

/* Thread 1 comes back to core 0 after 5 or after 500 us. */
static void cores_that_have_just_become_idle_have_a_latency_of_their_own(void **state) {
    (void)state;
    struct trace *trace = two_workers(), *alike = two_workers();
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t at = (i + 1) * 5 * MS;
        for (int differs = 0; differs <= 1; differs++) {
            struct trace *to = differs ? trace : alike;
            uint64_t brief = at + 100 * US + 5 * US, rest = brief + 100 * US + 500 * US;
            uint64_t jitter = i % 3 * US;
            builder_run(to, 1, 0, at, at + 30 * US + jitter, at + 100 * US, false);
            builder_run(to, 1, 0, brief, brief + (differs ? 10 : 30) * US + jitter,
                        brief + 100 * US, false);
            builder_run(to, 1, 0, rest, rest + 30 * US + jitter, rest + 100 * US, false);
        }
    }
    struct machine machine = measure(trace);
    assert_true(machine.brief_idle_ns == 500 * US);
    assert_true(machine.brief_latency_ns.mean == 11 * US);
    assert_true(machine.wake_latency_ns.mean == 31 * US);
    machine = measure(alike);
    assert_true(machine.brief_idle_ns == 0);
    assert_true(machine.wake_latency_ns.mean == 31 * US);
}

/* Threads 1 and 2 share core 0 while 0 leaves core 1 again and again. In every fourth round core 1
 * takes thread 2. */
static void what_idle_cores_take_is_counted(void **state) {
    (void)state;
    struct trace *trace = two_workers();
    double taken = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t at = round * 10 * MS;
        bool takes = round % 4 == 1;
        taken += takes;
        builder_run(trace, 0, 1, at, at + 10 * US, at + 2 * MS, false);
        builder_run(trace, 1, 0, 0, at, at + 5 * MS, true);
        if (takes)
            builder_run(trace, 2, 1, 0, at + 2 * MS + 3 * US, at + 4 * MS, true);
        builder_run(trace, 2, 0, 0, at + 5 * MS, at + 10 * MS, true);
    }
    struct machine machine = measure(trace);
    /* in the first one 2 is not there yet; nobody sees how the last one goes on */
    assert_true(machine.pull_share == taken / (ROUNDS - 2));
}

/* The same, but what is ready has just been running. */
static void threads_with_warm_caches_are_no_chance(void **state) {
    (void)state;
    struct trace *trace = two_workers();
    struct trace *few = two_workers();
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t at = round * 10 * MS;
        builder_run(trace, 0, 1, at, at + 10 * US, at + 300 * US, false);
        builder_run(trace, 1, 0, 0, at, at + 5 * MS, true);
        builder_run(trace, 2, 0, 0, at + 5 * MS, at + 10 * MS, true);
    }
    assert_true(measure(trace).pull_share == measure(few).pull_share); /* the usual one */
}

static bool signals_wait(const char *libc) {
    struct trace *trace = two_workers();
    trace->meta.libc = libc ? memory_strdup(libc) : NULL;
    return measure(trace).signals_wait;
}

static void the_c_library_tells_whether_signals_wait(void **state) {
    (void)state;
    assert_true(signals_wait("2.36"));
    assert_true(signals_wait("2.40"));
    assert_false(signals_wait("2.41"));
    assert_false(signals_wait("2.24")); /* its condition variables were still others */
    assert_false(signals_wait(""));
    assert_false(signals_wait(NULL));
}

static void where_few_slept_it_was_tried_out_before(void **state) {
    (void)state;
    struct trace *trace = two_workers();
    double usual_ns = measure(trace).wake_latency_ns.mean;
    trace = two_workers();
    trace->meta.idle_wake_ns = usual_ns + 13 * US;
    trace->meta.sleep_cpu_ns = 4 * US;
    struct machine machine = measure(trace);
    assert_true(machine.wake_latency_ns.mean == usual_ns + 13 * US);
    assert_true(machine.block_cpu_ns == 4 * US);
}

/* A server that waits nowhere else. It sleeps from 3 us after the call on and is back 2 us before.
 */
static void who_sleeps_until_a_descriptor_is_ready_pays_for_it(void **state) {
    (void)state;
    struct trace *trace = two_workers();
    trace->meta.has_slices = true;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t at = i * MS;
        builder_record(trace, 0, "epoll_wait", at, 500 * US, 3, TRACE_NO_CONTEXT, 1);
        builder_run(trace, 0, 0, 0, at - 100 * US, at + 3 * US, false);
        builder_run(trace, 0, 0, at + 490 * US, at + 498 * US, at + 600 * US, false);
    }
    assert_int_equal(measure(trace).block_cpu_ns, 5 * US);
}

/* Else the wakers would pay twice: in what they compute and for each interrupt. */
static void interrupts_cost_where_the_trace_shows_wake_ups(void **state) {
    (void)state;
    for (int has_wakes = 0; has_wakes < 2; has_wakes++) {
        struct trace *trace = two_workers();
        trace->meta.has_wakes = has_wakes;
        trace->meta.wake_cpu_ns = 11 * US;
        trace->meta.preempt_ns = 17 * US;
        struct machine machine = measure(trace);
        assert_true(machine.wake_cpu_ns == (has_wakes ? 11 * US : 0));
        assert_true(machine.preempt_ns == 17 * US);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_sleeps_until_a_descriptor_is_ready_pays_for_it),
        cmocka_unit_test(interrupts_cost_where_the_trace_shows_wake_ups),
        cmocka_unit_test(where_few_slept_it_was_tried_out_before),
        cmocka_unit_test(only_wake_ups_on_idle_cores_show_the_latency),
        cmocka_unit_test(cores_that_have_just_become_idle_have_a_latency_of_their_own),
        cmocka_unit_test(what_idle_cores_take_is_counted),
        cmocka_unit_test(threads_with_warm_caches_are_no_chance),
        cmocka_unit_test(the_c_library_tells_whether_signals_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
