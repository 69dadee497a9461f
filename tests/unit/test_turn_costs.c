/* What threads that take turns on a core cost each other, from the CPU time of a run with one core.
 */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/prediction/turn_costs.h"
#include "simulator/simulator.h"
#include "tests/unit/model_builder.h"

#define MS 1e6

/* Threads that compute for 200 ms each, in turns of 3 ms where they share a core. */
static struct model *computing(int threads, bool scales) {
    struct model *model = build_model(2);
    model->machine.quantum_ns = 3 * MS;
    int pool = build_pool(model, threads, true);
    build_next(model, model->pools[pool].entry, constant(200 * MS), NODE_END, MODEL_NONE);
    model->pools[pool].scales = scales;
    model->pools[pool].profiled_threads = threads;
    model->cpu_correction = 1;
    return model;
}

static double cpu_of(const struct model *model, int threads, int cores) {
    const struct sim_config config = {.seed = 1, .cores = cores, .pool_threads = (int[]){threads}};
    struct sim_result result;
    struct error error = {0};
    if (sim_predict(model, &config, &result, &error) < 0)
        fail_msg("%s", error.text);
    double cpu_ns = result.cpu_ns.mean;
    sim_result_free(&result);
    return cpu_ns;
}

static int fit(struct model *model, int threads, double ratio) {
    struct error error = {0};
    model->one_core_cpu = ratio;
    int fitted = turn_costs_fit(model, (int[]){threads}, &error);
    if (fitted < 0)
        fail_msg("%s", error.text);
    return fitted;
}

static void assert_near(double value, double expected, double share) {
    if (!(value > expected * (1 - share) && value < expected * (1 + share)))
        fail_msg("%g for %g", value, expected);
}

static void turns_take_what_one_core_took_more(void **state) {
    (void)state;
    struct model *model = computing(2, true);
    assert_int_equal(fit(model, 2, 1.2), 1);
    assert_true(model->one_core_cpu == 0);
    assert_near(cpu_of(model, 2, 1), 1.2 * 400 * MS, 0.005);
    assert_near(cpu_of(model, 2, 2), 400 * MS, 0.005); /* as recorded */
    assert_near(cpu_of(model, 1, 1), 200 * MS, 0.005); /* nobody to take turns with */
    assert_near(cpu_of(model, 4, 2), 1.2 * 800 * MS, 0.03);
    model_free(model);
}

static void what_was_measured_is_made_larger(void **state) {
    (void)state;
    struct model *model = computing(2, true);
    struct pool *pool = &model->pools[0];
    pool->refill = memory_alloc(2, sizeof *pool->refill);
    pool->refill[0] = (struct refill_point){1 * MS, 0.1 * MS};
    pool->refill[1] = (struct refill_point){9 * MS, 0.2 * MS};
    pool->n_refill = 2;
    pool->displaces_per_ns = 1e-6;
    double before_ns = cpu_of(model, 2, 1);
    assert_int_equal(fit(model, 2, 1.15), 1);
    assert_near(cpu_of(model, 2, 1), 1.15 * before_ns, 0.005);
    assert_int_equal(pool->n_refill, 2);
    assert_near(pool->refill[1].cpu_ns, 2 * pool->refill[0].cpu_ns, 1e-9);
    assert_true(pool->displaces_per_ns == 1e-6);
    model_free(model);
}

static void threads_that_take_no_turns_explain_nothing(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        struct model *model = computing(threads, threads == 1);
        double before_ns = cpu_of(model, threads, 1);
        assert_int_equal(fit(model, threads, 1.2), 0);
        assert_true(model->one_core_cpu == 1.2);
        assert_int_equal(model->pools[0].n_refill, 0);
        assert_true(model->pools[0].displaces_per_ns == 0);
        assert_near(cpu_of(model, threads, 1), before_ns, 1e-9);
        model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_take_what_one_core_took_more),
        cmocka_unit_test(what_was_measured_is_made_larger),
        cmocka_unit_test(threads_that_take_no_turns_explain_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
