/* CPU demands made to fit the runs without probes. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/demand_calibration.h"
#include "modelgen/calibrate/probe_overhead.h"
#include "modelgen/events/probe_cost.h"
#include "tests/unit/trace_builder.h"

enum { THREAD_CPU = 816, OUTSIDE = 100, PROBE = 1, RECORDS = 16, DEMAND = 800 };

/* One thread that computed DEMAND and paid for its records; `n` plain runs. */
static struct trace *measured_trace(size_t n, const uint64_t *plain_cpu_ns) {
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    builder_slice(trace, thread, 0, THREAD_CPU);
    for (uint64_t i = 0; i < RECORDS; i++)
        builder_record(trace, thread, "pthread_mutex_lock", i, 0, 0x1000, TRACE_NO_CONTEXT, 0);
    builder_finish(trace, THREAD_CPU);
    trace->meta.probe_ns = PROBE;
    trace->meta.cpu_ns = THREAD_CPU + OUTSIDE;
    for (size_t i = 0; i < n; i++)
        builder_plain_run(trace, 0, plain_cpu_ns[i]);
    return trace;
}

static double find(struct trace *trace) {
    double factor = demand_calibration_find(trace, NULL, NULL, 0).factor;
    trace_free(trace);
    return factor;
}

static void the_median_of_all_runs_counts(void **state) {
    (void)state;
    assert_true(find(measured_trace(1, (uint64_t[]){600 + OUTSIDE})) == (0.75 + 1) / 2);
    assert_true(find(measured_trace(2, (uint64_t[]){700 + OUTSIDE, 720 + OUTSIDE})) == 0.9);
    assert_true(find(measured_trace(2, (uint64_t[]){600 + OUTSIDE, 1200 + OUTSIDE})) == 1);
}

/* All runs alike, but for the cores: at the median speed a plain one needs 800. How much they mind
 * the speed is told by all of their CPU time, of which what is outside of the threads does not. */
static void all_runs_count_at_the_usual_speed_of_the_cores(void **state) {
    (void)state;
    struct trace *trace = measured_trace(2, (uint64_t[]){640 + OUTSIDE, 960 + OUTSIDE});
    trace->meta.pace = (struct pace_reading){{1.25, 1}, {1, 1}};
    for (int i = 0; i < 2; i++) {
        trace->meta.untraced[i].run_ns = trace->meta.untraced[i].cpu_ns;
        trace->meta.untraced[i].piece_ns[PACE_COMPUTING] = i == 0 ? 1 : 1.5;
        trace->meta.untraced[i].piece_ns[PACE_MEMORY] = 1;
    }
    struct demand_calibration correction = demand_calibration_find(trace, NULL, NULL, 0);
    assert_true(fabs(correction.factor - 1) < 0.01 && correction.spread < 0.05);
    trace_free(trace);
}

static void how_much_the_runs_differ_is_known(void **state) {
    (void)state;
    struct trace *trace = measured_trace(2, (uint64_t[]){700 + OUTSIDE, 780 + OUTSIDE});
    double median = 780.0 / DEMAND; /* of that, 700 and DEMAND itself */
    assert_true(fabs(demand_calibration_find(trace, NULL, NULL, 0).spread -
                     (1 - 700.0 / DEMAND) / median) < 1e-12);
    trace_free(trace);
    trace = measured_trace(0, NULL);
    assert_true(demand_calibration_find(trace, NULL, NULL, 0).spread == 0);
    trace_free(trace);
}

/* A fifth of the CPU time is the probes' at best, and they had half of it. The traced run tells
 * nothing besides: what is left of it is what the plain ones had. */
static void the_plain_runs_tell_what_many_records_cost(void **state) {
    (void)state;
    struct trace *trace = measured_trace(2, (uint64_t[]){416 + OUTSIDE, 416 + OUTSIDE});
    trace->meta.probe_ns = 10;
    struct probe_cost cost = probe_cost_find(trace);
    assert_true(cost.is_often && cost.is_told && cost.record_ns == 400.0 / RECORDS);
    assert_true(demand_calibration_find(trace, NULL, NULL, 0).factor == 1);
    trace->threads[0].attach = (struct trace_span){0, 80}; /* that is no record's */
    assert_true(probe_cost_find(trace).record_ns == 320.0 / RECORDS);
    trace->meta.n_untraced = 0;
    cost = probe_cost_find(trace);
    assert_true(cost.is_often && !cost.is_told && cost.record_ns == 10);
    trace->meta.probe_ns = PROBE;
    assert_false(probe_cost_find(trace).is_often);
    trace->meta.n_untraced = 2;
    trace_free(trace);
}

/* A tenth of the slices went to others: the thread computed less, with plain runs or without. */
static void what_the_host_took_is_no_demand(void **state) {
    (void)state;
    for (size_t n = 0; n <= 2; n += 2) {
        struct trace *trace = measured_trace(n, (uint64_t[]){720, 720});
        trace->meta.cpu_ns = THREAD_CPU - 80;
        assert_true(find(trace) == 0.9);
    }
}

static void without_comparable_runs_nothing_is_corrected(void **state) {
    (void)state;
    assert_true(find(measured_trace(0, NULL)) == 1);
    assert_true(find(measured_trace(2, (uint64_t[]){90, 100})) == 1); /* did something else */
    struct trace *killed = measured_trace(2, (uint64_t[]){700, 720});
    killed->meta.complete = false;
    assert_true(find(killed) == 1);
}

/* What the probes do to get ready and to leave is no demand, and the plain runs have none of it. */
static void getting_ready_is_no_demand(void **state) {
    (void)state;
    struct trace *trace = measured_trace(2, (uint64_t[]){600 + OUTSIDE, 600 + OUTSIDE});
    trace->threads[0].attach = (struct trace_span){0, 150};
    trace->threads[0].detach = (struct trace_span){766, 1000}; /* it left its core at 816 */
    assert_true(probe_overhead_run_ns(trace) == THREAD_CPU - 150);
    assert_true(probe_overhead_on_core_ns(trace) == THREAD_CPU - 200);
    assert_true(find(trace) == 1);
}

/* Interrupts of other cores are charged by the simulator: those of the plain runs are as many. */
static void interrupts_are_no_demand_in_any_run(void **state) {
    (void)state;
    struct trace *trace = measured_trace(2, (uint64_t[]){700 + OUTSIDE, 700 + OUTSIDE});
    trace->meta.has_wakes = true;
    trace->meta.wake_cpu_ns = 100;
    int woken = builder_thread(trace, "worker", 0);
    builder_run(trace, woken, 1, 500, 500 + 10, 500 + 10, false);
    builder_finish(trace, THREAD_CPU);
    assert_true(find(trace) == (700.0 - 100) / (DEMAND - 100));
}

static void all_demands_are_multiplied(void **state) {
    (void)state;
    double values[] = {1, 2, 6};
    struct edge edge = {
        .cpu_ns = {.kind = DIST_EMPIRICAL, .mean = 3, .n_values = 3, .values = values}};
    struct node node = {.cpu_ns = {.kind = DIST_CONSTANT, .mean = 8, .n_values = 0, .values = NULL},
                        .n_edges = 1,
                        .edges = &edge};
    struct model model = {.cpu_correction = 1, .n_nodes = 1, .nodes = &node};
    demand_calibration_apply(&model, (struct demand_calibration){.factor = 0.5, .spread = 0.1});
    assert_true(model.cpu_correction == 0.5 && model.cpu_spread == 0.1);
    assert_true(node.cpu_ns.mean == 4 && edge.cpu_ns.mean == 1.5);
    assert_true(values[0] == 0.5 && values[1] == 1 && values[2] == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_of_all_runs_counts),
        cmocka_unit_test(all_runs_count_at_the_usual_speed_of_the_cores),
        cmocka_unit_test(the_plain_runs_tell_what_many_records_cost),
        cmocka_unit_test(how_much_the_runs_differ_is_known),
        cmocka_unit_test(what_the_host_took_is_no_demand),
        cmocka_unit_test(getting_ready_is_no_demand),
        cmocka_unit_test(without_comparable_runs_nothing_is_corrected),
        cmocka_unit_test(interrupts_are_no_demand_in_any_run),
        cmocka_unit_test(all_demands_are_multiplied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
