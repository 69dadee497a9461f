/* What it cost the threads of a recorded run that others had used their core's cache is taken out
 * of it, and handed to the model's pools. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/cache_reload_time.h"
#include "modelgen/events/thread_states.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL
#define MS (1000 * US)

enum { MAIN, WORKER, OTHER };

/* Two workers have core 0 in turns of 4 ms, `turns` each. */
static struct trace *recorded_run(int turns) {
    struct trace *trace = builder_new(1);
    for (int i = 0; i < 3; i++)
        builder_thread(trace, i ? "worker" : "main", i ? 0 : -1);
    for (uint64_t i = 0; i < 2 * (uint64_t)turns; i++)
        builder_run(trace, i % 2 ? OTHER : WORKER, 0, 0, 4 * MS * i, 4 * MS * (i + 1), true);
    builder_finish(trace, 8 * MS * (uint64_t)turns);
    return trace;
}

/* CPU of the worker that is left when its reload_costs are taken out. */
static double left_ns(const struct trace *trace, const struct cache_reload_cost *refill) {
    struct cache_reload_cost copy = *refill;
    struct cache_reload_costs reload_costs = {.items = &copy, .count = 1};
    struct excluded_time losses = cache_reload_time_find(trace, &reload_costs);
    struct thread_states timeline = thread_states_make(&trace->threads[WORKER]);
    thread_states_leave_out(&timeline, &losses);
    double cpu_ns = thread_states_cpu(&timeline, trace->meta.run_ns);
    thread_states_free(&timeline);
    free(losses.items);
    return cpu_ns;
}

static void refills_of_the_recorded_run_are_no_demand(void **state) {
    (void)state;
    struct trace *trace = recorded_run(5);
    struct cache_reload_cost refill = {.role = fragments_role(trace, WORKER),
                                       .displaces_per_ns = 1.0 / (4 * MS),
                                       .n_points = 2,
                                       .points = {{2 * MS, 200.0 * US}, {6 * MS, 600.0 * US}}};
    /* Away for 4 ms, in which 1 - 1/e of what it had goes; all but e^-6.7 of it is brought back in
     * the next 4 ms. The first turn was no return. */
    double each_ns = 400.0 * US * (1 - exp(-1));
    assert_true(fabs(20.0 * MS - left_ns(trace, &refill) - 4 * each_ns) < 0.01 * each_ns);
    refill.displaces_per_ns = 0;
    assert_true(left_ns(trace, &refill) == 20.0 * MS);
    refill.role++;
    assert_true(left_ns(trace, &refill) == 20.0 * MS);
    trace_free(trace);
}

static void who_comes_to_another_core_has_nothing_there(void **state) {
    (void)state;
    struct trace *trace = recorded_run(2);
    struct cache_reload_cost refill = {
        .role = fragments_role(trace, WORKER), .n_points = 1, .points = {{4 * MS, 100.0 * US}}};
    assert_true(left_ns(trace, &refill) == 8.0 * MS);
    trace->threads[WORKER].slices[1].cpu = 1;
    assert_true(fabs(8.0 * MS - left_ns(trace, &refill) - 100 * US) < US);
    trace_free(trace);
}

/* A pool is known by the thread of it that computes most. */
static void pools_get_what_is_known_of_their_busiest_thread(void **state) {
    (void)state;
    struct trace *trace = recorded_run(2);
    int reader = builder_thread(trace, "reader", 0);
    size_t threads[] = {(size_t)reader, WORKER};
    const double cpu_ns[] = {0, 8.0 * MS, 8.0 * MS, 1.0 * MS};
    struct thread_pool pool = {.threads = threads, .n_threads = 2};
    struct thread_pools pools = {.n_pools = 1, .pools = &pool};
    struct cache_reload_cost cost = {.role = fragments_role(trace, WORKER),
                                     .displaces_per_ns = 0.25,
                                     .n_points = 1,
                                     .points = {{4 * MS, 100.0 * US}}};
    struct cache_reload_costs costs = {.items = &cost, .count = 1};
    struct model *model = build_model(2);
    build_pool(model, 2, false);
    cache_reload_time_write(trace, NULL, &pools, cpu_ns, model);
    assert_int_equal(model->pools[0].n_refill, 0);
    cache_reload_time_write(trace, &costs, &pools, cpu_ns, model);
    assert_int_equal(model->pools[0].n_refill, 1);
    assert_true(model->pools[0].refill[0].cpu_ns == 100.0 * US);
    assert_true(model->pools[0].displaces_per_ns == 0.25);
    model_free(model);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refills_of_the_recorded_run_are_no_demand),
        cmocka_unit_test(pools_get_what_is_known_of_their_busiest_thread),
        cmocka_unit_test(who_comes_to_another_core_has_nothing_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
