/* How fast threads displace lines of their core's cache. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/cache_pollution.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL

enum { FAST, SLOW, ROLES, WINDOWS = 20 };

/* Lines are put on core 0 and looked for 100 us later; by turns the one or the other thread has run
 * there for a while, or both have. */
static struct trace *primed(const double *per_ns) {
    struct trace *trace = builder_new_with_workers(1);
    for (uint64_t i = 0; i < WINDOWS; i++) {
        uint64_t from = 1000 * US * (i + 1), to = from + 100 * US;
        double ran[ROLES] = {i % 3 == 1 ? 0 : 30e3, i % 3 == 0 ? 0 : 60e3};
        if (ran[FAST] > 0)
            builder_slice(trace, FAST, from, from + 30 * US);
        if (ran[SLOW] > 0)
            builder_slice(trace, SLOW, from + 40 * US, to);
        double left = exp(-per_ns[FAST] * ran[FAST] - per_ns[SLOW] * ran[SLOW]);
        builder_eviction(trace, (struct trace_eviction){
                                    .from_ns = from - US, .to_ns = from, .kind = EVICTION_PRIME});
        builder_eviction(
            trace, (struct trace_eviction){
                       .from_ns = to, .to_ns = to + US, .kind = EVICTION_PROBE, .survived = left});
    }
    builder_finish(trace, 1000 * US * (WINDOWS + 1));
    return trace;
}

static void each_role_is_told_by_what_its_running_leaves(void **state) {
    (void)state;
    const size_t role_of[] = {FAST, SLOW};
    const double per_ns[ROLES] = {1 / 50e3, 1 / 400e3};
    struct trace *trace = primed(per_ns);
    struct windows windows = {0};
    double found[ROLES];
    cache_pollution_add(trace, role_of, ROLES, &windows);
    assert_int_equal(windows.count, WINDOWS);
    assert_true(cache_pollution_fit(&windows, ROLES, found));
    assert_true(fabs(found[FAST] / per_ns[FAST] - 1) < 0.01);
    assert_true(fabs(found[SLOW] / per_ns[SLOW] - 1) < 0.01);
    cache_pollution_free(&windows);
    trace_free(trace);
}

static void few_windows_tell_nothing(void **state) {
    (void)state;
    const size_t role_of[] = {FAST, SLOW};
    struct trace *trace = primed((const double[]){1 / 50e3, 1 / 400e3});
    struct windows windows = {0};
    double found[ROLES] = {1, 1};
    trace->n_evictions = 8;
    cache_pollution_add(trace, role_of, ROLES, &windows);
    assert_int_equal(windows.count, 4);
    assert_false(cache_pollution_fit(&windows, ROLES, found));
    assert_true(found[FAST] == 0 && found[SLOW] == 0);
    cache_pollution_free(&windows);
    trace_free(trace);
}

/* What ran on another core did not touch the lines. */
static void other_cores_do_not_count(void **state) {
    (void)state;
    const size_t role_of[] = {FAST, SLOW};
    struct trace *trace = primed((const double[]){0, 0});
    for (size_t s = 0; s < trace->threads[FAST].n_slices; s++)
        trace->threads[FAST].slices[s].cpu = 1;
    struct windows windows = {0};
    cache_pollution_add(trace, role_of, ROLES, &windows);
    for (size_t w = 0; w < windows.count; w++)
        assert_true(windows.items[w].ran_ns[FAST] == 0);
    cache_pollution_free(&windows);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_role_is_told_by_what_its_running_leaves),
        cmocka_unit_test(few_windows_tell_nothing),
        cmocka_unit_test(other_cores_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
