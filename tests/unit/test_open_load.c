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
    int mean, median, p99;
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
        inside.median += contains(result.response_p50_ns, station_quantile_ns(station, 0.5), 0.3);
        inside.p99 += contains(result.response_p99_ns, station_quantile_ns(station, 0.99), 0.6);
        sim_result_free(&result);
    }
    model_free(model);
    print_message("%d means, %d medians and %d 99th percentiles lie in %d intervals\n", inside.mean,
                  inside.median, inside.p99, SEEDS);
    return inside;
}

static void assert_honest(struct station station) {
    struct counted inside = count_inside(&station, (struct sim_config){0});
    assert_true(inside.mean >= LEAST);
    assert_true(inside.median >= LEAST);
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

/* ---- closed ---- */

/* Clients who think and then need one of `servers`, all exponential: the machine-repair model, by
 * its birth-death chain. */
static double repair_throughput_hz(int clients, int servers, double think_ns, double service_ns) {
    double weight = 1, sum = 0, busy = 0;
    for (int waiting = 0; waiting <= clients; waiting++) {
        sum += weight;
        busy += weight * fmin(waiting, servers);
        weight *= (clients - waiting) / think_ns * service_ns / fmin(waiting + 1, servers);
    }
    return busy / sum / service_ns * 1e9;
}

static void assert_estimates(struct estimate estimate, double exact) {
    /* Twice the interval: right ones miss that once in thousands of times. */
    if (fabs(estimate.mean - exact) > 2 * estimate.half_width)
        fail_msg("%g is not %g +- twice %g", exact, estimate.mean, estimate.half_width);
    assert_true(estimate.half_width < 0.1 * estimate.mean);
}

static void assert_repair(const struct model *model, struct sim_config config, int clients,
                          int servers, double think_ns) {
    struct sim_result result = simulate(model, config);
    double throughput = repair_throughput_hz(clients, servers, think_ns, 1 * MS);
    assert_int_equal(result.regime, REGIME_STEADY);
    assert_int_equal(result.clients, clients);
    assert_estimates(result.throughput_hz, throughput);
    assert_estimates(result.response_ns, clients * 1e9 / throughput - think_ns); /* Little */
    sim_result_free(&result);
}

static void test_clients_of_the_model(void **state) {
    (void)state;
    for (int servers = 1; servers <= 4; servers *= 2) {
        struct station station = {STATION_EXPONENTIAL, servers, 0.5, 1 * MS};
        struct model *model = station_build(&station);
        model->objects[0].interarrival_ns = (struct dist){0};
        model->objects[0].clients = 12;
        model->objects[0].think_ns = exponential(5 * MS);
        assert_repair(model, (struct sim_config){0}, 12, servers, 5 * MS);
        model_free(model);
    }
}

static void test_clients_in_place_of_arrivals(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 2, 0.5, 1 * MS};
    struct model *model = station_build(&station);
    assert_repair(model, (struct sim_config){.clients = 7, .think_ns = 3 * MS}, 7, 2, 3 * MS);
    model_free(model);
}

/* Two stages: who takes the request is not who answers it, and the client comes back only then. */
static void test_clients_wait_for_who_answers(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 1, 0.5, 1 * MS};
    struct model *model = station_build(&station);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->machine.cores = 2;
    int get = model->nodes[model->pools[0].entry].edges[0].to;
    int put = model->nodes[get].edges[0].to;
    model->nodes[put].kind = NODE_PUT;
    model->nodes[put].object = queue;
    int pool = build_pool(model, 1, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, take, exponential(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, take);
    struct sim_result result = simulate(model, (struct sim_config){.clients = 5, .think_ns = 1e-3});
    /* Two stations that take turns with five customers: n / (n + 1) of the rate. */
    assert_estimates(result.throughput_hz, 1000 * 5 / 6.0);
    assert_int_equal(result.clients, 5);
    sim_result_free(&result);
    model_free(model);
}

static void test_saturation_is_what_the_servers_can_do(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 3, 0.1, 1 * MS};
    struct model *model = station_build(&station);
    struct sim_result result =
        simulate(model, (struct sim_config){.is_saturated = true, .precision = 0.01});
    assert_close(result.throughput_hz.mean, 3000, 0.02);
    sim_result_free(&result);
    model_free(model);
}

/* D/M/1 at 0.8: of the response times that are exponential with rate mu (1 - s), s = exp(-mu a
 * (1 - s)), and longer at random arrivals. */
static void test_constant_arrivals_wait_less(void **state) {
    (void)state;
    struct station station = {STATION_EXPONENTIAL, 1, 0.1, 1 * MS};
    struct model *model = station_build(&station);
    double s = 0.5;
    for (int i = 0; i < 200; i++)
        s = exp(-(1 - s) / 0.8);
    struct sim_config config = {.arrival_rate_hz = 800, .arrivals = ARRIVALS_CONSTANT};
    struct sim_result result = simulate(model, config);
    assert_estimates(result.response_ns, 1 * MS / (1 - s));
    sim_result_free(&result);
    config.arrivals = ARRIVALS_RECORDED; /* those are exponential */
    result = simulate(model, config);
    assert_estimates(result.response_ns, 5 * MS);
    sim_result_free(&result);
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
        cmocka_unit_test(test_clients_of_the_model),
        cmocka_unit_test(test_clients_in_place_of_arrivals),
        cmocka_unit_test(test_clients_wait_for_who_answers),
        cmocka_unit_test(test_saturation_is_what_the_servers_can_do),
        cmocka_unit_test(test_constant_arrivals_wait_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
