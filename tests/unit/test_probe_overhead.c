/* What the probes did in the threads by themselves is no time of the program. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/probe_overhead.h"
#include "tests/unit/trace_builder.h"

enum { END = 1000 };

/* The first thread's probes get ready from 0 to 100, with a break, and leave from 900 to 950; a
 * worker's take its first 30. */
static struct trace *probed(void) {
    struct trace *trace = builder_new_with_workers(1);
    builder_run(trace, 0, 0, 0, 0, 60, false);
    builder_run(trace, 0, 1, 0, 80, END, false);
    builder_run(trace, 1, 0, 0, 200, 500, false);
    builder_finish(trace, END);
    trace->threads[0].attach = (struct trace_span){0, 100};
    trace->threads[0].detach = (struct trace_span){900, 950};
    trace->threads[1].attach = (struct trace_span){200, 230};
    return trace;
}

static void assert_interval(struct excluded_interval interval, uint32_t cpu, uint64_t from_ns,
                            uint64_t to_ns) {
    assert_int_equal(interval.cpu, cpu);
    assert_int_equal(interval.from_ns, from_ns);
    assert_int_equal(interval.to_ns, to_ns);
    assert_true(interval.share == 1);
}

static void attaching_and_leaving_are_found_where_they_ran(void **state) {
    (void)state;
    struct trace *trace = probed();
    struct excluded_time overhead = probe_overhead_find(trace);
    assert_int_equal(overhead.count, 4);
    assert_interval(overhead.items[0], 0, 0, 60);
    assert_interval(overhead.items[1], 0, 200, 230);
    assert_interval(overhead.items[2], 1, 80, 100);
    assert_interval(overhead.items[3], 1, 900, 950);
    free(overhead.items);
    trace_free(trace);
}

static void the_run_and_its_cpu_time_are_without_it(void **state) {
    (void)state;
    struct trace *trace = probed();
    assert_true(probe_overhead_run_ns(trace) == END - 100);
    assert_true(probe_overhead_on_core_ns(trace) == 60 + 920 + 300 - (60 + 30 + 20 + 50));
    trace_free(trace);
}

/* Then a thread's life begins after it. */
static void without_scheduling_there_is_none(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(0);
    builder_finish(trace, END);
    trace->threads[0].attach = (struct trace_span){0, 100};
    assert_int_equal(probe_overhead_find(trace).count, 0);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attaching_and_leaving_are_found_where_they_ran),
        cmocka_unit_test(the_run_and_its_cpu_time_are_without_it),
        cmocka_unit_test(without_scheduling_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
