/* What a server's threads need more after they slept, told from one run's requests. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "modelgen/calibrate/cold_starts.h"
#include "tests/unit/trace_builder.h"

enum { WORKER = 1, LISTENER = 3, CONNECTION = 5, REQUESTS = 400, SLEEPS = 20 };
#define US    1000.0
#define WARM  (100 * US)
#define WHOLE (80 * US)
#define PACE  (800 * US)
#define EVEN  (3 * US) /* what requests differ by anyway */

static void call(struct trace *trace, const char *api, uint64_t start_ns, uint64_t end_ns,
                 int object, int value) {
    builder_record(trace, WORKER, api, start_ns, end_ns - start_ns, (uint64_t)object,
                   builder_context(trace, api, 1, "thread", 2), value);
}

/* The worker sleeps in accept() for 50 us to 4 ms, in turn, then computes the longer for it. */
static struct trace *serving(double whole_ns) {
    struct trace *trace = builder_new_with_workers(1);
    trace->meta.has_wakes = true;
    uint64_t now = 1000;
    for (int i = 0; i < REQUESTS; i++) {
        double slept = 50 * US + (i * 7 % SLEEPS) * 200 * US;
        uint64_t woken = now + (uint64_t)slept;
        double cpu = WARM - whole_ns * expm1(-slept / PACE) + (i / SLEEPS % 2 ? EVEN : -EVEN);
        uint64_t end = woken + (uint64_t)cpu;
        call(trace, "accept", now, woken + 10, LISTENER, CONNECTION);
        call(trace, "read", woken + 20, woken + 30, CONNECTION, 16);
        call(trace, "write", end - 200, end - 100, CONNECTION, 16);
        call(trace, "close", end - 50, end - 40, CONNECTION, 0);
        builder_run(trace, WORKER, 0, woken, woken, end, false);
        now = end;
    }
    builder_finish(trace, now + 1000);
    return trace;
}

static void test_the_cost_of_sleeping_is_found_in_one_run(void **state) {
    (void)state;
    struct trace *trace = serving(WHOLE);
    struct cold_starts starts = cold_starts_find(trace, 0);
    assert_true(fabs(starts.whole_ns - WHOLE) < WHOLE / 10);
    assert_true(fabs(starts.pace_ns - PACE) < 1);
    assert_true(starts.answers[WORKER] && !starts.answers[0]);
    assert_int_equal(starts.n_threads, 1);
    cold_starts_free(&starts);
    trace_free(trace);
}

static void test_what_does_not_follow_sleep_costs_nothing(void **state) {
    (void)state;
    struct trace *trace = serving(0);
    struct cold_starts starts = cold_starts_find(trace, 0);
    assert_true(starts.whole_ns == 0);
    struct excluded_time losses = cold_starts_time(trace, &starts);
    assert_int_equal(losses.count, 0);
    cold_starts_free(&starts);
    trace_free(trace);
}

static void test_what_each_sleep_cost_is_left_out_of_the_demand(void **state) {
    (void)state;
    struct trace *trace = serving(WHOLE);
    struct cold_starts starts = cold_starts_find(trace, 0);
    struct excluded_time losses = cold_starts_time(trace, &starts);
    double found_ns = 0, truth_ns = 0;
    for (size_t i = 0; i < losses.count; i++)
        found_ns +=
            losses.items[i].share * (double)(losses.items[i].to_ns - losses.items[i].from_ns);
    for (int i = 1; i < REQUESTS; i++) /* before the first one nothing is known of a sleep */
        truth_ns -= WHOLE * expm1(-(50 * US + (i * 7 % SLEEPS) * 200 * US) / PACE);
    assert_true(fabs(found_ns / truth_ns - 1) < 0.1);
    free(losses.items);
    cold_starts_free(&starts);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cost_of_sleeping_is_found_in_one_run),
        cmocka_unit_test(test_what_does_not_follow_sleep_costs_nothing),
        cmocka_unit_test(test_what_each_sleep_cost_is_left_out_of_the_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
