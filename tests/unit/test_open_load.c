/* Loads without an end: are the intervals of what they settle to honest, and is it said when they
 * do not settle? bench/open_load.sh does the same with more seeds, systems and utilisations. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/simulation.h"
#include "tests/unit/stations.h"

#ifndef __has_feature /* Clang's way to ask */
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || __has_feature(thread_sanitizer)
#define SEEDS 5
#define LEAST 3
#else
#define SEEDS 60
#define LEAST 50 /* right 95 % intervals are fewer once in 500 times */
#endif

#define MS 1e6 /* in nanoseconds */

struct counted {
    int mean, p99;
};

static bool contains(struct estimate estimate, double exact, double widest) {
    assert_true(estimate.half_width > 0 && estimate.half_width < widest * estimate.mean);
    return fabs(estimate.mean - exact) <= estimate.half_width;
}

static struct counted count_inside(const struct station *station, struct sim_config config) {
    struct counted inside = {0};
    struct model *model = station_build(station);
    for (int seed = 1; seed <= SEEDS; seed++) {
        config.seed = (uint64_t)seed;
        struct sim_result result = simulate(model, config);
        inside.mean += contains(result.response_ns, station_mean_ns(station), 0.3);
        inside.p99 += contains(result.response_p99_ns, station_quantile_ns(station, 0.99), 0.6);
        sim_result_free(&result);
    }
    model_free(model);
    print_message("%d means and %d 99th percentiles lie in %d intervals\n", inside.mean, inside.p99,
                  SEEDS);
    return inside;
}

static void assert_honest(struct station station) {
    struct counted inside = count_inside(&station, (struct sim_config){0});
    assert_true(inside.mean >= LEAST);
    assert_true(inside.p99 >= LEAST);
}

static void test_intervals_of_mm1(void **state) {
    (void)state;
    assert_honest((struct station){STATION_EXPONENTIAL, 1, 0.8, 1 * MS});
}

static void test_intervals_of_mmc(void **state) {
    (void)state;
    assert_honest((struct station){STATION_EXPONENTIAL, 4, 0.5, 1 * MS});
}

static void test_intervals_of_md1(void **state) {
    (void)state;
    assert_honest((struct station){STATION_CONSTANT, 1, 0.8, 1 * MS});
}

/* What the figures above are measured against: runs that start empty and are many, but short. */
static void test_many_short_runs_would_not_be_honest(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 1, 0.9, 1 * MS};
    struct sim_config config = {
        .horizon_ns = 500 * MS, .min_replications = 200, .max_replications = 200};
    struct counted inside = count_inside(&station, config);
    assert_true(inside.p99 < LEAST);
}

static void test_workers_do_not_change_the_figures(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 2, 0.6, 1 * MS};
    struct model *model = station_build(&station);
    struct sim_result one = simulate(model, (struct sim_config){.workers = 1});
    struct sim_result three = simulate(model, (struct sim_config){.workers = 3});
    assert_true(one.response_ns.mean == three.response_ns.mean);
    assert_true(one.response_p99_ns.half_width == three.response_p99_ns.half_width);
    assert_true(one.events == three.events);
    sim_result_free(&one);
    sim_result_free(&three);
    model_free(model);
}

/* What is left of arrivals grows, and no response time is given. */
static void test_above_saturation_the_queue_grows(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 2, 1.2, 1 * MS};
    struct model *model = station_build(&station);
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_int_equal(result.regime, REGIME_GROWING);
    assert_int_equal(result.growing, 0);
    assert_close(result.offered_hz, 2400, 1e-9);
    assert_close(result.throughput_hz.mean, 2000, 0.05);
    assert_close(result.objects[0].growth_hz.mean, 400, 0.25);
    assert_true(isnan(result.response_ns.mean) && isnan(result.response_p99_ns.mean));
    sim_result_free(&result);
    model_free(model);
}

static void test_below_saturation_nothing_grows(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 1, 0.97, 1 * MS};
    struct model *model = station_build(&station);
    struct sim_result result = simulate(model, (struct sim_config){.max_events = 2e6});
    assert_int_not_equal(result.regime, REGIME_GROWING);
    sim_result_free(&result);
    model_free(model);
}

/* A full bounded queue turns tasks away: that settles. */
static void test_a_bounded_queue_settles_above_saturation(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 1, 1.5, 1 * MS};
    struct model *model = station_build(&station);
    model->objects[0].bounded = true;
    model->objects[0].amount.base = 5;
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_int_equal(result.regime, REGIME_STEADY);
    assert_true(result.objects[0].dropped.mean > 0);
    assert_true(result.response_ns.mean > 0);
    sim_result_free(&result);
    model_free(model);
}

/* Values drawn without replacement would make the load of each deck the same: the queue of a
 * server whose times are two hundred recorded ones, half of them short, must be as long as if they
 * were drawn anew each time. */
static void test_recorded_values_vary_for_ever(void **state) {
    (void)state;
    struct station station = {STATION_CONSTANT, 1, 0.9, 1 * MS};
    struct model *model = station_build(&station);
    struct dist *service = &model->nodes[1].edges[0].cpu_ns;
    *service = (struct dist){.kind = DIST_EMPIRICAL, .n_values = 20};
    service->values = memory_alloc(20, sizeof *service->values);
    for (int i = 0; i < 20; i++)
        service->values[i] = i < 10 ? 0.2 * MS : 1.8 * MS;
    model->objects[0].interarrival_ns = constant(1 * MS / 0.9);
    struct sim_result result = simulate(model, (struct sim_config){.precision = 0.02});
    /* Kingman's bound for D/G/1 is nearly exact at such a load: 0.9 / 0.1 * 0.64 / 2 waits. */
    assert_true(result.response_ns.mean > 3 * MS && result.response_ns.mean < 3.9 * MS);
    sim_result_free(&result);
    model_free(model);
}

static void test_a_run_that_ends_is_refused(void **state) {
    (void)state;
    struct station station = {STATION_CONSTANT, 1, 0.5, 1 * MS};
    struct model *model = station_build(&station);
    int pool = build_pool(model, 1, true);
    build_next(model, model->pools[pool].entry, constant(MS), NODE_END, MODEL_NONE);
    model->pools[0].at_start = false;
    struct sim_result result;
    struct error error;
    struct sim_config config = {.seed = 1};
    assert_int_not_equal(sim_predict(model, &config, &result, &error), 0);
    assert_non_null(strstr(error.text, "horizon"));
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_of_mm1),
        cmocka_unit_test(test_intervals_of_mmc),
        cmocka_unit_test(test_intervals_of_md1),
        cmocka_unit_test(test_many_short_runs_would_not_be_honest),
        cmocka_unit_test(test_workers_do_not_change_the_figures),
        cmocka_unit_test(test_above_saturation_the_queue_grows),
        cmocka_unit_test(test_below_saturation_nothing_grows),
        cmocka_unit_test(test_a_bounded_queue_settles_above_saturation),
        cmocka_unit_test(test_recorded_values_vary_for_ever),
        cmocka_unit_test(test_a_run_that_ends_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
