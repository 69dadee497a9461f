/* libpersiksim as another program sees it, by persiksim.h. tests/library.sh looks at what is
 * installed. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "library/handles.h"
#include "tests/unit/scratch_folder.h"

#define MS 1e6 /* in nanoseconds */

/* ---- models ---- */

static int follow(persik_model *model, int from, persik_dist cpu, enum persik_node kind, int on) {
    int node = persik_add_node(model, kind, on, NULL);
    persik_add_edge(model, from, node, cpu);
    return node;
}

/* Customers arrive once a millisecond, each is served by one of the threads for 0.7 ms a thread. */
static persik_model *build_station(int threads) {
    persik_model *model = persik_model_new(threads);
    int queue = persik_add_object(model, PERSIK_QUEUE, "customers", 0);
    persik_set_arrivals(model, queue, persik_exponential(1 * MS / threads), 0);
    int pool = persik_add_pool(model, "server", threads, PERSIK_AT_START);
    int get = follow(model, persik_entry(model, pool), persik_constant(0), PERSIK_GET, queue);
    int done = follow(model, get, persik_exponential(0.7 * MS), PERSIK_TASK_END, PERSIK_NONE);
    persik_add_edge(model, done, get, persik_constant(0));
    return model;
}

/* Two threads that compute 100 times 1 ms, each for itself or together. */
static persik_model *build_rounds(bool split) {
    persik_model *model = persik_model_new(4);
    int pool = persik_add_pool(model, "worker", 2, PERSIK_AT_START);
    int head = follow(model, persik_entry(model, pool), persik_constant(0), PERSIK_STEP, -1);
    int body = persik_add_node(model, PERSIK_STEP, PERSIK_NONE, NULL);
    int end = persik_add_node(model, PERSIK_END, PERSIK_NONE, NULL);
    persik_add_loop(model, head, body, end, persik_constant(100), split ? pool : PERSIK_NONE);
    persik_add_edge(model, body, head, persik_constant(1 * MS));
    return model;
}

/* Two threads that take two locks, in the same order or each in its own. */
static persik_model *build_two_locks(bool crossed) {
    persik_model *model = persik_model_new(2);
    int locks[] = {persik_add_object(model, PERSIK_MUTEX, "a", 0),
                   persik_add_object(model, PERSIK_MUTEX, "b", 0)};
    for (int i = 0; i < 2; i++) {
        int first = locks[crossed ? i : 0], second = locks[crossed ? 1 - i : 1];
        int pool = persik_add_pool(model, i ? "two" : "one", 1, PERSIK_AT_START);
        int at = follow(model, persik_entry(model, pool), persik_constant(0), PERSIK_LOCK, first);
        at = follow(model, at, persik_constant(1 * MS), PERSIK_LOCK, second);
        at = follow(model, at, persik_constant(1 * MS), PERSIK_UNLOCK, second);
        at = follow(model, at, persik_constant(0), PERSIK_UNLOCK, first);
        follow(model, at, persik_constant(0), PERSIK_END, PERSIK_NONE);
    }
    return model;
}

static persik_result *simulate(persik_model *model, const persik_config *config) {
    persik_error error = {0};
    persik_result *result = persik_simulate(model, config, &error);
    if (!result)
        fail_msg("%s", error.text);
    return result;
}

/* The mean running time with so many threads in pool 0. */
static double run_ns(persik_model *model, int threads) {
    persik_config *config = persik_config_new();
    persik_config_threads(config, 0, threads);
    persik_result *result = simulate(model, config);
    double mean = persik_figure(result, PERSIK_RUN_NS).mean;
    persik_result_free(result);
    persik_config_free(config);
    return mean;
}

static void assert_near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= share * fabs(expected)))
        fail_msg("%g is not within %g %% of %g", value, 100 * share, expected);
}

static void assert_refused(persik_model *model, const persik_config *config, const char *why) {
    persik_error error = {0};
    assert_null(persik_simulate(model, config, &error));
    if (!strstr(error.text, why))
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
}

/* ---- figures ---- */

static void test_mm1_and_mm2_have_their_response_times(void **state) {
    (void)state;
    double utilisation = 0.7;
    double exact[] = {0.7 * MS / (1 - utilisation),
                      0.7 * MS / (1 - utilisation * utilisation)}; /* Erlang's C for two */
    for (int servers = 1; servers <= 2; servers++) {
        persik_model *model = build_station(servers);
        persik_result *result = simulate(model, NULL);
        persik_estimate response = persik_figure(result, PERSIK_RESPONSE_NS);
        assert_near(response.mean, exact[servers - 1], 0.06);
        assert_true(response.half_width > 0 && response.half_width < 0.06 * response.mean);
        assert_near(persik_figure(result, PERSIK_CPU_UTILISATION).mean, utilisation, 0.03);
        assert_near(persik_figure(result, PERSIK_THROUGHPUT_HZ).mean, 1000 * servers, 0.03);
        assert_int_equal(persik_regime(result), PERSIK_STEADY);
        assert_int_equal(persik_growing_queue(result), PERSIK_NONE);
        persik_result_free(result);
        persik_model_free(model);
    }
}

static void test_a_queue_that_grows_is_named(void **state) {
    (void)state;
    persik_model *model = build_station(1);
    persik_config *config = persik_config_new();
    assert_int_equal(persik_config_set(config, PERSIK_ARRIVAL_RATE_HZ, 2000), 0);
    persik_result *result = simulate(model, config);
    assert_int_equal(persik_regime(result), PERSIK_GROWING);
    assert_int_equal(persik_growing_queue(result), persik_find_object(model, "customers"));
    assert_true(isnan(persik_figure(result, PERSIK_RESPONSE_NS).mean));
    assert_near(persik_figure(result, PERSIK_THROUGHPUT_HZ).mean, 1 / 0.7e-3, 0.03);
    persik_result_free(result);
    persik_config_free(config);
    persik_model_free(model);
}

static void test_clients_wait_for_each_other(void **state) {
    (void)state;
    persik_model *model = persik_model_new(1);
    int queue = persik_add_object(model, PERSIK_QUEUE, NULL, 0);
    persik_set_clients(model, queue, 4, persik_exponential(1 * MS));
    int pool = persik_add_pool(model, NULL, 1, PERSIK_AT_START);
    int get = follow(model, persik_entry(model, pool), persik_constant(0), PERSIK_GET, queue);
    int done = follow(model, get, persik_exponential(1 * MS), PERSIK_TASK_END, PERSIK_NONE);
    persik_add_edge(model, done, get, persik_constant(0));
    persik_result *result = simulate(model, NULL);
    /* Machine repair with 4 machines, equal rates: 1 - 1 / sum of 4! / k! for k = 0 ... 4. */
    assert_near(persik_figure(result, PERSIK_CPU_UTILISATION).mean, 1 - 1 / 65., 0.02);
    persik_result_free(result);
    persik_model_free(model);
}

static void test_rounds_are_each_threads_or_split(void **state) {
    (void)state;
    persik_model *each = build_rounds(false), *split = build_rounds(true);
    assert_near(run_ns(each, 0), 100 * MS, 0.001);
    assert_near(run_ns(each, 4), 100 * MS, 0.001);
    assert_near(run_ns(split, 0), 100 * MS, 0.001);
    assert_near(run_ns(split, 4), 50 * MS, 0.001);
    assert_near(run_ns(split, 1), 200 * MS, 0.001);
    persik_model_free(each);
    persik_model_free(split);
}

static void test_a_lock_is_held_and_waited_for(void **state) {
    (void)state;
    persik_model *model = build_two_locks(false);
    persik_result *result = simulate(model, NULL);
    assert_near(persik_figure(result, PERSIK_RUN_NS).mean, 4 * MS, 0.001);
    assert_near(persik_object_figure(result, 0, PERSIK_UTILISATION).mean, 1, 0.001);
    assert_near(persik_object_figure(result, 0, PERSIK_WAIT_NS).mean, 2 * MS, 0.001);
    assert_near(persik_pool_figure(result, 1, PERSIK_POOL_CPU_NS).mean, 2 * MS, 0.001);
    assert_true(isnan(persik_object_figure(result, 2, PERSIK_WAITS).mean));
    assert_true(isnan(persik_pool_figure(result, -1, PERSIK_POOL_CPU_NS).mean));
    persik_result_free(result);
    persik_model_free(model);
}

static void test_a_disk_serves_one_after_the_other(void **state) {
    (void)state;
    persik_model *model = persik_model_new(2);
    int disk = persik_add_object(model, PERSIK_DISK, "disk", 1);
    persik_set_service(model, disk, persik_constant(5 * MS));
    int pool = persik_add_pool(model, "reader", 2, PERSIK_AT_START);
    int read = follow(model, persik_entry(model, pool), persik_constant(0), PERSIK_IO, disk);
    persik_set_requests(model, read, persik_constant(3));
    follow(model, read, persik_constant(0), PERSIK_END, PERSIK_NONE);
    assert_near(run_ns(model, 0), 2 * 3 * 5 * MS, 0.001);
    persik_model_free(model);
}

/* ---- files ---- */

static void test_a_saved_model_gives_the_same_figures(void **state) {
    (void)state;
    char *path = scratch_folder_path("model.json");
    persik_error error = {0};
    persik_model *model = build_station(1);
    assert_int_equal(persik_model_save(model, path, &error), 0);
    persik_model *loaded = persik_model_load(path, &error);
    assert_non_null(loaded);
    assert_int_equal(persik_pools(loaded), 1);
    assert_int_equal(persik_objects(loaded), 1);
    assert_int_equal(persik_pool_threads(loaded, persik_find_pool(loaded, "server")), 1);
    assert_int_equal(persik_find_pool(loaded, "nobody"), PERSIK_NONE);
    assert_string_equal(persik_object_name(loaded, 0), "customers");
    persik_result *one = simulate(model, NULL), *other = simulate(loaded, NULL);
    assert_true(persik_figure(one, PERSIK_RESPONSE_NS).mean ==
                persik_figure(other, PERSIK_RESPONSE_NS).mean);
    persik_result_free(one);
    persik_result_free(other);
    persik_model_free(loaded);
    persik_model_free(model);
    free(path);
}

static void test_a_file_that_is_not_there_is_told(void **state) {
    (void)state;
    persik_error error = {0};
    assert_null(persik_model_load("/nowhere/model.json", &error));
    assert_non_null(strstr(error.text, "/nowhere/model.json"));
    assert_null(persik_model_load("/nowhere/model.json", NULL));
}

/* ---- what is refused ---- */

static void test_the_first_wrong_call_is_told(void **state) {
    (void)state;
    persik_model *model = build_station(1);
    assert_int_equal(persik_add_edge(model, 0, 99, persik_constant(0)), PERSIK_NONE);
    assert_int_equal(persik_set_mutex(model, 0, 7), PERSIK_NONE);
    assert_refused(model, NULL, "persik_add_edge: there is no node 99");
    persik_model_free(model);
}

static void test_a_model_that_makes_no_sense_is_refused(void **state) {
    (void)state;
    persik_model *empty = persik_model_new(1);
    assert_refused(empty, NULL, "no threads");
    persik_model_free(empty);
    persik_model *open_end = persik_model_new(1);
    persik_add_pool(open_end, "worker", 1, PERSIK_AT_START);
    assert_refused(open_end, NULL, "nodes[0]");
    persik_model_free(open_end);
    persik_model *never = persik_model_new(1);
    int pool = persik_add_pool(never, "worker", 1, PERSIK_AT_START);
    persik_add_edge(never, persik_entry(never, pool), 0, (persik_dist){.kind = 77});
    assert_refused(never, NULL, "no distribution");
    persik_model_free(never);
}

static void test_settings_that_make_no_sense_are_refused(void **state) {
    (void)state;
    persik_model *model = build_station(1);
    persik_config *config = persik_config_new();
    assert_int_equal(persik_config_set(config, PERSIK_CORES, -1), -1);
    assert_refused(model, config, "-1");
    persik_config_free(config);
    config = persik_config_new();
    assert_int_equal(persik_config_threads(config, 3, 2), 0);
    assert_refused(model, config, "no pool 3");
    persik_config_free(config);
    persik_model_free(model);
}

static void test_a_deadlock_is_no_figure(void **state) {
    (void)state;
    persik_model *model = build_two_locks(true);
    assert_refused(model, NULL, "everything waits for nothing");
    persik_config *config = persik_config_new();
    persik_config_set(config, PERSIK_ACCEPT_STANDSTILL, 1);
    persik_result *result = simulate(model, config);
    assert_true(persik_standstills(result) > 0);
    persik_result_free(result);
    persik_config_free(config);
    persik_model_free(model);
}

static void test_an_unknown_rule_is_no_figure(void **state) {
    (void)state;
    persik_model *model = build_rounds(true);
    model->model->pools[0].partition = PARTITION_UNKNOWN; /* as in a model from a recording */
    assert_near(run_ns(model, 2), 100 * MS, 0.001);
    persik_config *config = persik_config_new();
    persik_config_threads(config, 0, 4);
    assert_refused(model, config, "worker: how its work follows its threads is unknown");
    persik_config_set(config, PERSIK_ACCEPT_UNKNOWN_RULES, 1);
    persik_result_free(simulate(model, config));
    persik_config_free(config);
    persik_model_free(model);
}

static void test_a_run_of_a_given_time_is_no_figure(void **state) {
    (void)state;
    persik_model *model = build_rounds(false);
    model->model->pools[0].given_ns = 100 * MS;
    persik_config *config = persik_config_new();
    persik_config_set(config, PERSIK_CORES, 4); /* as recorded */
    persik_result_free(simulate(model, config));
    persik_config_set(config, PERSIK_CORES, 2);
    assert_refused(model, config, "a given time");
    persik_config_free(config);
    persik_model_free(model);
}

static void test_what_the_model_says_it_cannot_tell_is_no_figure(void **state) {
    (void)state;
    persik_model *model = build_rounds(true);
    persik_config *config = persik_config_new();
    persik_config_set(config, PERSIK_CORES, 2); /* 4 as recorded */
    model->model->asks_cores = memory_strdup("it asks for the cores");
    assert_refused(model, config, "it asks for the cores");
    persik_result_free(simulate(model, NULL));
    model->model->unpredicted = memory_strdup("nobody knows what brings them");
    assert_refused(model, config, "nobody knows what brings them");
    persik_result_free(simulate(model, NULL));
    persik_config_set(config, PERSIK_ACCEPT_UNKNOWN_RULES, 1);
    persik_result_free(simulate(model, config));
    model->model->standstill = memory_strdup("its own run comes to a standstill");
    assert_refused(model, NULL, "its own run comes to a standstill");
    persik_config_set(config, PERSIK_ACCEPT_STANDSTILL, 1);
    persik_result_free(simulate(model, config));
    persik_config_free(config);
    persik_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mm1_and_mm2_have_their_response_times),
        cmocka_unit_test(test_a_queue_that_grows_is_named),
        cmocka_unit_test(test_clients_wait_for_each_other),
        cmocka_unit_test(test_rounds_are_each_threads_or_split),
        cmocka_unit_test(test_a_lock_is_held_and_waited_for),
        cmocka_unit_test(test_a_disk_serves_one_after_the_other),
        cmocka_unit_test_setup_teardown(test_a_saved_model_gives_the_same_figures,
                                        scratch_folder_make, scratch_folder_remove),
        cmocka_unit_test(test_a_file_that_is_not_there_is_told),
        cmocka_unit_test(test_the_first_wrong_call_is_told),
        cmocka_unit_test(test_a_model_that_makes_no_sense_is_refused),
        cmocka_unit_test(test_settings_that_make_no_sense_are_refused),
        cmocka_unit_test(test_a_deadlock_is_no_figure),
        cmocka_unit_test(test_an_unknown_rule_is_no_figure),
        cmocka_unit_test(test_a_run_of_a_given_time_is_no_figure),
        cmocka_unit_test(test_what_the_model_says_it_cannot_tell_is_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
