/* cli/prediction/refusal and cli/prediction/prediction: what gets no figures, and what a standstill
 * must not have left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/prediction/prediction.h"
#include "cli/prediction/refusal.h"
#include "modelgen/modelgen.h"
#include "tests/unit/model_builder.h"

#define MS 1e6

static void end_after(struct model *model, int node, struct dist cpu_ns) {
    build_next(model, node, cpu_ns, NODE_END, MODEL_NONE);
}

/* Two threads take from a queue what nobody puts, after 1 ms: everything waits. */
static struct model *stalled_model(void) {
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int pool = build_pool(model, 2, true);
    int get = build_next(model, model->pools[pool].entry, constant(1 * MS), NODE_GET, queue);
    end_after(model, get, constant(1 * MS));
    model->cpu_correction = 1;
    return model;
}

static struct prediction predict(const struct model *model, const struct thread_choice *threads) {
    const struct sim_config config = {.seed = 1};
    struct prediction prediction;
    struct error error = {0};
    if (prediction_make(model, threads, 0, &config, &prediction, &error) != 0)
        fail_msg("%s", error.text);
    return prediction;
}

static void a_standstill_gives_no_figure_but_its_places(void **state) {
    (void)state;
    const struct thread_choice own = {.label = "own"};
    struct model *model = stalled_model();
    struct prediction prediction = predict(model, &own);
    assert_non_null(prediction.no_figures);
    assert_non_null(strstr(prediction.no_figures, model->objects[0].name));
    assert_true(isnan(prediction.result.run_ns.mean));
    assert_true(isnan(prediction.result.cpu_utilisation.mean));
    assert_int_equal(prediction.result.n_objects, 0);
    prediction_free(&prediction);
    model_free(model);
}

static void who_disturbed_the_recording_is_a_cause(void **state) {
    (void)state;
    const struct thread_choice own = {.label = "own"};
    struct model *model = stalled_model();
    for (int disturbed = 0; disturbed <= 1; disturbed++) {
        model->foreign_share = disturbed ? 0.6 : 0.01;
        struct prediction prediction = predict(model, &own);
        const char *cause = strstr(prediction.no_figures, "other processes had 60 %");
        assert_int_equal(cause != NULL, disturbed);
        prediction_free(&prediction);
    }
    model_free(model);
}

/* Nothing in it waits. */
static struct model *computing_model(void) {
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    end_after(model, model->pools[pool].entry, constant(100 * MS));
    model->cpu_correction = 1;
    return model;
}

static char *refused_with(struct model *model, int threads, int cores) {
    const int own_threads[] = {2}, pool_threads[] = {threads};
    return refusal_of_rules(model, own_threads, pool_threads, cores);
}

static void what_is_known_of_the_recorded_configuration_only_is_refused_elsewhere(void **state) {
    (void)state;
    struct model *model = computing_model();
    model->unpredicted = memory_strdup("nobody knows what brings them");
    assert_null(refused_with(model, 2, 2));
    for (int other = 0; other <= 1; other++) {
        char *reason = refused_with(model, other ? 3 : 2, other ? 2 : 1);
        assert_string_equal(reason, model->unpredicted);
        free(reason);
    }
    model->unpredicted[0] = '\0'; /* as of a file without it */
    assert_null(refused_with(model, 3, 2));
    model_free(model);
}

static void a_model_that_stands_still_in_its_own_run_has_no_figures_anywhere(void **state) {
    (void)state;
    struct model *model = computing_model();
    model->standstill = memory_strdup("everything waits for nothing");
    for (int cores = 1; cores <= 2; cores++) {
        char *reason = refused_with(model, 2, cores);
        assert_string_equal(reason, model->standstill);
        free(reason);
    }
    model->standstill[0] = '\0'; /* as of a file without it */
    assert_null(refused_with(model, 2, 1));
    model_free(model);
}

static void a_program_that_asks_for_its_cores_is_refused_on_others(void **state) {
    (void)state;
    struct model *model = computing_model();
    model->asks_cores = memory_strdup("it asks");
    assert_null(refused_with(model, 3, 2));
    char *reason = refused_with(model, 2, 1);
    assert_string_equal(reason, "it asks");
    free(reason);
    model_free(model);
}

/* Two threads compute 100 ms each, on two cores. */
static double run_ms(const struct model *model, int cores, char **no_figures) {
    const struct thread_choice own = {.label = "own"};
    const struct sim_config config = {.seed = 1};
    struct prediction prediction;
    struct error error = {0};
    assert_int_equal(prediction_make(model, &own, cores, &config, &prediction, &error), 0);
    double ms = prediction.result.run_ns.mean / MS;
    *no_figures = prediction.no_figures;
    prediction.no_figures = NULL;
    prediction_free(&prediction);
    return ms;
}

static void demands_follow_the_busy_cores_between_one_and_the_recorded_ones(void **state) {
    (void)state;
    char *refused;
    struct model *model = computing_model();
    model->machine.busy_cores = 2;
    model->one_core_cpu = 0.5;
    assert_true(fabs(run_ms(model, 2, &refused) - 100) < 1);
    assert_null(refused);
    assert_true(fabs(run_ms(model, 1, &refused) - 100) < 1); /* two times 50 ms */
    assert_null(refused);
    model->machine.busy_cores = 1.5; /* two cores are more than was recorded */
    run_ms(model, 2, &refused);
    assert_non_null(refused);
    free(refused);
    model_free(model);
}

/* Where one core takes half of the CPU time, 100 ms there are 200 ms as recorded. */
static void a_total_grows_also_where_one_core_takes_less(void **state) {
    (void)state;
    char *refused;
    struct model *model = computing_model();
    for (size_t p = 0; p < model->n_pools; p++)
        model->pools[p].partition = model->pools[p].scales ? PARTITION_SHARED : PARTITION_NONE;
    model->cpu_correction = 1;
    model->machine.busy_cores = 2;
    modelgen_add_check(model, "running time", 0.1, 0.1);
    modelgen_add_check(model, "CPU utilisation", 0.6, 0.6);
    run_ms(model, 1, &refused); /* 200 ms */
    assert_non_null(refused);
    free(refused);
    model->one_core_cpu = 0.5;
    run_ms(model, 1, &refused);
    assert_non_null(refused);
    assert_non_null(strstr(refused, "the threads share a total"));
    free(refused);
    model->checks[1].measured = 1; /* 200 ms recorded */
    run_ms(model, 1, &refused);
    assert_null(refused);
    model_free(model);
}

static void threads_that_were_stopped_have_no_figures_where_more_cores_are_busy(void **state) {
    (void)state;
    char *refused;
    struct model *model = computing_model();
    model->machine.busy_cores = 1.9;
    model->stopped_share = 0.2;
    run_ms(model, 2, &refused);
    assert_null(refused);
    model->machine.busy_cores = 0.5; /* others had the cores */
    assert_true(fabs(run_ms(model, 1, &refused) - 200) < 1);
    assert_null(refused);
    run_ms(model, 2, &refused);
    assert_non_null(strstr(refused, "20 %"));
    free(refused);
    model_free(model);
}

static void an_unknown_rule_gives_no_figure_for_other_threads(void **state) {
    (void)state;
    const struct thread_choice own = {.label = "own"}, more = {.all = 4, .label = "4"};
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    end_after(model, model->pools[pool].entry, constant(1 * MS));
    model->pools[pool].scales = true;
    model->pools[pool].partition = PARTITION_UNKNOWN;
    struct prediction prediction = predict(model, &own);
    assert_null(prediction.no_figures);
    prediction_free(&prediction);
    prediction = predict(model, &more);
    assert_non_null(strstr(prediction.no_figures, "--partition"));
    assert_true(isnan(prediction.result.run_ns.mean));
    prediction_free(&prediction);
    model->pools[pool].partition = PARTITION_PERTHREAD;
    prediction = predict(model, &more);
    assert_null(prediction.no_figures);
    prediction_free(&prediction);
    model_free(model);
}

static void a_lone_thread_that_need_not_be_counted_gets_no_figure(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 1, true);
    assert_null(refusal_of_count(model, 2));
    model->pools[pool].uncounted = memory_strdup("it was one thread");
    char *reason = refusal_of_count(model, 2);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "it was one thread"));
    free(reason);
    model->pools[pool].scales = false; /* --threads means others */
    assert_null(refusal_of_count(model, 2));
    model_free(model);
}

static void a_pool_that_may_be_capped_gets_no_figure_for_more_threads_than_cores(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    model->pools[pool].partition = PARTITION_SHARED;
    model->pools[pool].capped = memory_strdup("as many as there were cores");
    const int own[] = {2}, more[] = {3};
    char *reason = refusal_of_rules(model, own, more, 2);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "as many as there were cores"));
    free(reason);
    assert_null(refusal_of_rules(model, own, more, 3));
    assert_null(refusal_of_rules(model, own, own, 2));
    model_free(model);
}

static void threads_that_are_costly_to_make_anew_get_figures_as_recorded(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    model->pools[pool].partition = PARTITION_FIXED;
    model->pools[pool].remade = memory_strdup("34 % of the run's CPU time");
    const int own[] = {2}, more[] = {3}, fewer[] = {1};
    char *reason = refusal_of_rules(model, own, more, 2);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "34 % of the run's CPU time"));
    free(reason);
    assert_null(refusal_of_rules(model, own, own, 1));
    assert_null(refusal_of_rules(model, own, fewer, 1));
    reason = refusal_of_rules(model, own, fewer, 2);
    assert_non_null(reason);
    free(reason);
    model_free(model);
}

static void a_total_that_grows_with_its_threads_gets_no_figure(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    model->pools[pool].partition = PARTITION_SHARED;
    const struct sim_result result = {.regime = REGIME_ENDING, .cpu_ns = {2e9, 0}};
    char *reason = refusal_of_growth(model, &result, 1e9);
    assert_non_null(reason);
    free(reason);
    assert_null(refusal_of_growth(model, &result, 1.9e9)); /* caches may cost as much */
    assert_null(refusal_of_growth(model, &result, NAN));
    model->pools[pool].partition = PARTITION_PERTHREAD;
    assert_null(refusal_of_growth(model, &result, 1e9));
    model_free(model);
}

static void a_total_that_is_not_all_done_gets_no_figure(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    model->pools[pool].partition = PARTITION_SHARED;
    struct sim_object_result did = {.operations = {60, 0}}, recorded = {.operations = {100, 0}};
    const struct sim_result result = {
        .regime = REGIME_ENDING, .cpu_ns = {2e9, 0}, .n_objects = 1, .objects = &did};
    const struct sim_result own = {.n_objects = 1, .objects = &recorded};
    assert_false(refusal_of_loss_is_due(model, &result, 2.9e9)); /* caches may save as much */
    assert_true(refusal_of_loss_is_due(model, &result, 3.1e9));
    assert_false(refusal_of_loss_is_due(model, &result, NAN));
    model->one_core_cpu = 0.8; /* what was recorded has in it what cores cost each other */
    assert_false(refusal_of_loss_is_due(model, &result, 3.1e9));
    char *reason = refusal_of_loss(&result, &own);
    assert_non_null(strstr(reason, "only 60 %"));
    free(reason);
    did.operations.mean = 70; /* they waited less */
    assert_null(refusal_of_loss(&result, &own));
    model_free(model);
}

/* --threads N makes N - 1 helpers. */
static void a_pool_that_is_left_no_thread_has_no_figure(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 1, true);
    end_after(model, model->pools[pool].entry, constant(1 * MS));
    model->pools[pool].asked_factor = 1;
    model->pools[pool].asked_offset = -1;
    char *reason = refusal_of_count(model, 1);
    assert_non_null(strstr(reason, "with --threads 1 there is no thread of it"));
    free(reason);
    assert_null(refusal_of_count(model, 2));
    model->pools[pool].least_threads = 1;
    assert_null(refusal_of_count(model, 1));
    model_free(model);
}

static void one_thread_that_goes_another_way_gets_no_figure(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    end_after(model, model->pools[pool].entry, constant(1 * MS));
    model->pools[pool].partition = PARTITION_SHARED;
    model->pools[pool].one_thread = memory_strdup("threads > 1 in main");
    char *reason = refusal_of_rules(model, (int[]){2}, (int[]){1}, 2);
    assert_non_null(strstr(reason, "threads > 1 in main"));
    free(reason);
    assert_null(refusal_of_rules(model, (int[]){2}, (int[]){4}, 2));
    assert_null(refusal_of_rules(model, (int[]){1}, (int[]){1}, 2));
    model_free(model);
}

static void threads_that_go_on_for_a_given_time_get_a_figure_as_recorded_only(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    end_after(model, model->pools[pool].entry, constant(1 * MS));
    model->pools[pool].partition = PARTITION_UNKNOWN;
    model->pools[pool].given_ns = 1e9;
    assert_null(refusal_of_rules(model, (int[]){2}, (int[]){2}, 2));
    for (int cores = 1; cores <= 2; cores++) {
        char *reason = refusal_of_rules(model, (int[]){2}, (int[]){cores == 1 ? 2 : 4}, cores);
        assert_non_null(strstr(reason, "a given time, 1 s"));
        free(reason);
    }
    model_free(model);
}

/* A queue with `operations` puts and gets, of whose items some are left. */
static struct sim_result queue_result(double operations, double left, double stalls,
                                      struct sim_object_result *queue) {
    *queue = (struct sim_object_result){.operations.mean = operations, .left.mean = left};
    return (struct sim_result){.replications = 1,
                               .stalls = stalls,
                               .stalled_at = "there",
                               .cpu_ns.mean = 100 * MS,
                               .n_objects = 1,
                               .objects = queue};
}

static bool refused(const struct model *model, struct sim_result result, double cpu_ns) {
    char *reason = refusal_of_own_run(model, &result, cpu_ns);
    free(reason);
    return reason != NULL;
}

static void a_standstill_that_left_nothing_undone_is_harmless(void **state) {
    (void)state;
    struct model *model = stalled_model();
    struct sim_object_result queue;
    assert_false(refused(model, queue_result(2000, 0, 4, &queue), 100 * MS));
    assert_false(refused(model, queue_result(2000, 9, 4, &queue), 100 * MS));
    assert_true(refused(model, queue_result(2000, 0, 40, &queue), 100 * MS)); /* too often */
    assert_true(refused(model, queue_result(1200, 1199, 4, &queue), 100 * MS));
    assert_true(refused(model, queue_result(2000, 0, 4, &queue), 150 * MS)); /* rounds missing */
    assert_true(refused(model, queue_result(2000, 0, 4, &queue), NAN));      /* not shown */
    assert_false(refused(model, queue_result(2000, 1000, 0, &queue), NAN));  /* no standstill */
    model_free(model);
}

static void guessed_waits_must_leave_nothing_undone_either(void **state) {
    (void)state;
    struct model *model = stalled_model();
    struct sim_object_result queue;
    struct sim_result result = queue_result(2000, 0, 0, &queue);
    result.guessed = 1000; /* however many: that is no defect */
    assert_false(refused(model, result, 100 * MS));
    result = queue_result(2000, 1000, 0, &queue);
    result.guessed = 1;
    assert_true(refused(model, result, 100 * MS));
    model_free(model);
}

static bool other_refused(const struct model *model, int threads, double operations,
                          const struct sim_result *own) {
    struct sim_object_result queue;
    struct sim_result result = queue_result(operations, 0, 1, &queue);
    char *reason = refusal_of_run(model, (int[]){2}, (int[]){threads}, &result, own);
    free(reason);
    return reason != NULL;
}

static void other_configurations_must_do_the_recorded_work(void **state) {
    (void)state;
    struct model *model = stalled_model();
    struct sim_object_result queue;
    struct sim_result own = queue_result(2000, 0, 0, &queue);
    model->pools[0].partition = PARTITION_SHARED;
    assert_false(other_refused(model, 1, 1990, &own));
    assert_true(other_refused(model, 1, 1000, &own));
    assert_true(other_refused(model, 1, 2000, NULL));
    model->pools[0].partition = PARTITION_PERTHREAD;
    assert_false(other_refused(model, 1, 1000, &own)); /* half as many threads */
    model_free(model);
}

/* Half the operations of the recorded run, which took 1 s, with one wait whose end was guessed. */
static bool refused_after_guess(double guessed_ns, double left) {
    struct model *model = stalled_model();
    model->pools[0].partition = PARTITION_SHARED;
    struct sim_object_result queue, own_queue;
    struct sim_result own = queue_result(2000, 0, 0, &own_queue);
    struct sim_result result = queue_result(1000, left, 0, &queue);
    result.guessed = 1;
    result.guessed_ns = guessed_ns;
    result.run_ns.mean = 1000 * MS;
    char *reason = refusal_of_run(model, (int[]){2}, (int[]){4}, &result, &own);
    free(reason);
    model_free(model);
    return reason != NULL;
}

static void fewer_operations_are_no_loss_where_a_guess_cost_nothing(void **state) {
    (void)state;
    assert_false(refused_after_guess(1 * MS, 0));
    assert_true(refused_after_guess(100 * MS, 0));
    assert_true(refused_after_guess(1 * MS, 500));
}

/* On two objects so many operations, of 1000 each in the recorded run; in 80 % of its CPU time, and
 * with one wait whose end was guessed. */
static bool refused_with_less_cpu(double first, double second) {
    struct model *model = stalled_model();
    struct sim_object_result own_objects[] = {{.operations.mean = 1000}, {.operations.mean = 1000}};
    struct sim_object_result objects[] = {{.operations.mean = first}, {.operations.mean = second}};
    struct sim_result own = {.n_objects = 2, .objects = own_objects, .cpu_ns.mean = 1000 * MS};
    struct sim_result result = {
        .n_objects = 2, .objects = objects, .cpu_ns.mean = 800 * MS, .guessed = 1};
    build_object(model, OBJECT_QUEUE, 0);
    result.replications = 1;
    result.run_ns.mean = 500 * MS;
    char *reason = refusal_of_run(model, (int[]){2}, (int[]){1}, &result, &own);
    free(reason);
    model_free(model);
    return reason != NULL;
}

static void less_cpu_time_is_no_loss_where_no_operation_is_missing(void **state) {
    (void)state;
    assert_false(refused_with_less_cpu(1000, 1100));
    assert_true(refused_with_less_cpu(700, 1400)); /* more of others makes up for nothing */
}

/* A disk that so many of 100 requests found as the recorded run's hardly did. */
static double disk_busy = 0.5;
static char *refused_requests(double unseen, bool continued, double alone_ns) {
    struct model *model = computing_model();
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].least_depth = continued ? 0 : 2;
    model->objects[disk].never_continued = continued;
    model->objects[disk].most_depth = alone_ns < 0 ? 2 : 0; /* nothing tells of more */
    model->objects[disk].alone_ns = alone_ns > 0 ? constant(alone_ns) : (struct dist){0};
    struct sim_object_result object = {
        .operations.mean = 100, .unseen.mean = unseen, .utilisation.mean = disk_busy};
    struct sim_result result = {.n_objects = 1, .objects = &object};
    char *reason = refusal_of_disks(model, &result);
    model_free(model);
    return reason;
}

static void requests_that_the_recording_had_none_of_get_no_figure(void **state) {
    (void)state;
    char *reason = refused_requests(50, true, 0);
    assert_non_null(strstr(reason, "50 % of the requests would follow one of the same thread"));
    assert_non_null(strstr(reason, "persik calibrate"));
    free(reason);
    reason = refused_requests(50, false, 0);
    assert_non_null(strstr(reason, "would find fewer others there"));
    free(reason);
    reason = refused_requests(50, false, -1);
    assert_non_null(strstr(reason, "would find fewer or more others there"));
    free(reason);
    assert_null(refused_requests(1, true, 0));
    assert_null(refused_requests(50, true, 5 * MS));
}

static void a_disk_that_is_hardly_busy_takes_no_figure_away(void **state) {
    (void)state;
    disk_busy = 0.002;
    assert_null(refused_requests(50, true, 0));
    disk_busy = 0.5;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_standstill_gives_no_figure_but_its_places),
        cmocka_unit_test(who_disturbed_the_recording_is_a_cause),
        cmocka_unit_test(a_model_that_stands_still_in_its_own_run_has_no_figures_anywhere),
        cmocka_unit_test(what_is_known_of_the_recorded_configuration_only_is_refused_elsewhere),
        cmocka_unit_test(a_program_that_asks_for_its_cores_is_refused_on_others),
        cmocka_unit_test(demands_follow_the_busy_cores_between_one_and_the_recorded_ones),
        cmocka_unit_test(a_total_grows_also_where_one_core_takes_less),
        cmocka_unit_test(threads_that_were_stopped_have_no_figures_where_more_cores_are_busy),
        cmocka_unit_test(an_unknown_rule_gives_no_figure_for_other_threads),
        cmocka_unit_test(a_lone_thread_that_need_not_be_counted_gets_no_figure),
        cmocka_unit_test(a_pool_that_may_be_capped_gets_no_figure_for_more_threads_than_cores),
        cmocka_unit_test(threads_that_are_costly_to_make_anew_get_figures_as_recorded),
        cmocka_unit_test(a_total_that_grows_with_its_threads_gets_no_figure),
        cmocka_unit_test(a_total_that_is_not_all_done_gets_no_figure),
        cmocka_unit_test(a_pool_that_is_left_no_thread_has_no_figure),
        cmocka_unit_test(one_thread_that_goes_another_way_gets_no_figure),
        cmocka_unit_test(threads_that_go_on_for_a_given_time_get_a_figure_as_recorded_only),
        cmocka_unit_test(a_standstill_that_left_nothing_undone_is_harmless),
        cmocka_unit_test(guessed_waits_must_leave_nothing_undone_either),
        cmocka_unit_test(less_cpu_time_is_no_loss_where_no_operation_is_missing),
        cmocka_unit_test(fewer_operations_are_no_loss_where_a_guess_cost_nothing),
        cmocka_unit_test(other_configurations_must_do_the_recorded_work),
        cmocka_unit_test(requests_that_the_recording_had_none_of_get_no_figure),
        cmocka_unit_test(a_disk_that_is_hardly_busy_takes_no_figure_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
