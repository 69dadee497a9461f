/* cli/report/forecast, state_timeline, around_recorded: what the HTML report shows, before it is
 * drawn. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/prediction/around_recorded.h"
#include "cli/report/forecast.h"
#include "cli/report/html_report.h"
#include "cli/report/state_timeline.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

/* ---- forecasts ---- */

/* Rows in single quotes. */
static json_t *prediction(const char *rows) {
    char *text = memory_format("{\"configurations\": [%s]}", rows);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    free(text);
    return json;
}

static void threads_go_along_and_cores_tell_series_apart(void **state) {
    (void)state;
    json_t *json = prediction("{'threads': 2, 'cores': 1, 'run_ns': 9.0},"
                              "{'threads': 1, 'cores': 1, 'run_ns': 8.0},"
                              "{'threads': 1, 'cores': 2, 'run_ns': 7.0}");
    struct forecast forecast = forecast_of(json);
    assert_int_equal(forecast.axis, ALONG_THREADS);
    assert_int_equal(forecast.n_series, 2);
    assert_string_equal(forecast.labels[0], "1 core");
    assert_string_equal(forecast.labels[1], "2 cores");
    assert_true(forecast.rows[0].x == 1 && forecast.rows[1].x == 2);
    assert_string_equal(forecast.rows[1].label, "2 threads, 1 core");
    assert_ptr_equal(forecast_best(&forecast), &forecast.rows[2]);
    forecast_free(&forecast);
    json_decref(json);
}

static void a_load_goes_along_where_it_differs(void **state) {
    (void)state;
    json_t *json =
        prediction("{'threads': 'own', 'cores': 2, 'arrivals_hz': 100.0, 'saturation_hz': 900.0},"
                   "{'threads': 'own', 'cores': 2, 'arrivals_hz': 200.0, 'saturation_hz': 900.0}");
    struct forecast forecast = forecast_of(json);
    assert_int_equal(forecast.axis, ALONG_ARRIVALS);
    assert_int_equal(forecast.n_series, 1);
    assert_string_equal(forecast.labels[0], "");
    assert_string_equal(forecast.rows[1].label, "threads as recorded, 2 cores, 200 /s");
    forecast_free(&forecast);
    json_decref(json);
}

static void cores_go_along_where_nothing_else_differs(void **state) {
    (void)state;
    json_t *json = prediction("{'threads': 4, 'cores': 1}, {'threads': 4, 'cores': 2}");
    struct forecast forecast = forecast_of(json);
    assert_int_equal(forecast.axis, ALONG_CORES);
    assert_int_equal(forecast.n_series, 1);
    assert_null(forecast_best(&forecast)); /* none has figures */
    forecast_free(&forecast);
    json_decref(json);
}

static void one_pools_threads_are_numbers_and_several_pools_an_order(void **state) {
    (void)state;
    json_t *one = prediction("{'threads': 'w=2', 'cores': 1}, {'threads': 'w=8', 'cores': 1}");
    json_t *two =
        prediction("{'threads': 'w=2,r=1', 'cores': 1}, {'threads': 'w=2,r=2', 'cores': 1}");
    json_t *other = prediction("{'threads': 'w=2', 'cores': 1}, {'threads': 'v=8', 'cores': 1}");
    struct forecast forecast = forecast_of(one);
    assert_int_equal(forecast.axis, ALONG_THREADS);
    assert_true(forecast.rows[1].x == 8);
    forecast_free(&forecast);
    forecast = forecast_of(two);
    assert_int_equal(forecast.axis, ALONG_ORDER);
    assert_true(forecast.rows[0].x == 1 && forecast.rows[1].x == 2);
    forecast_free(&forecast);
    forecast = forecast_of(other);
    assert_int_equal(forecast.axis, ALONG_ORDER);
    forecast_free(&forecast);
    json_decref(one);
    json_decref(two);
    json_decref(other);
}

static void no_prediction_is_no_forecast(void **state) {
    (void)state;
    struct forecast forecast = forecast_of(NULL);
    assert_int_equal(forecast.n_rows, 0);
    assert_null(forecast_best(&forecast));
    forecast_free(&forecast);
}

static void an_unknown_figure_is_no_number(void **state) {
    (void)state;
    json_t *json = prediction("{'threads': 1, 'run_ns': null}");
    const json_t *row = json_array_get(json_object_get(json, "configurations"), 0);
    assert_true(isnan(forecast_number(row, "run_ns")));
    assert_true(isnan(forecast_number(row, "nothing")));
    assert_true(forecast_has_threads(row, "1"));
    assert_false(forecast_has_threads(row, "own"));
    json_decref(json);
}

/* ---- timelines ---- */

static void bins_hold_what_the_thread_did_in_them(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    builder_run(trace, 1, 0, 100, 200, 300, true); /* waits from 100, runs, is preempted ... */
    builder_run(trace, 1, 0, 0, 350, 400, false);  /* ... and waits until 350 */
    builder_finish(trace, 400);
    struct state_timeline timeline = state_timeline_of(trace, 4, 8);
    assert_int_equal(timeline.n_threads, 2);
    const struct thread_timeline *worker = &timeline.threads[1];
    const float computing[] = {0, 0, 1, 0.5F}, ready[] = {0, 1, 0, 0.5F};
    for (int i = 0; i < 4; i++) {
        assert_true(fabsf(worker->computing[i] - computing[i]) < 1e-6F);
        assert_true(fabsf(worker->ready[i] - ready[i]) < 1e-6F);
    }
    assert_true(worker->cpu_ns == 150 && worker->ready_ns == 150);
    assert_true(worker->from == 0 && worker->to == 1);
    state_timeline_free(&timeline);
    trace_free(trace);
}

static void without_scheduling_time_outside_of_calls_is_computing(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    uint32_t context = builder_context(trace, "f", 1, "worker", 2);
    builder_call(trace, 1, "pthread_mutex_lock", 100, 300, 0x10, context);
    builder_finish(trace, 400);
    struct state_timeline timeline = state_timeline_of(trace, 4, 8);
    const float computing[] = {1, 0, 0, 1};
    for (int i = 0; i < 4; i++)
        assert_true(fabsf(timeline.threads[1].computing[i] - computing[i]) < 1e-6F);
    assert_true(timeline.threads[1].cpu_ns == 200 && timeline.threads[1].ready_ns == 0);
    state_timeline_free(&timeline);
    trace_free(trace);
}

static void of_many_threads_those_that_computed_longest_are_kept(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(3);
    builder_slice(trace, 0, 0, 10);
    builder_slice(trace, 1, 0, 300);
    builder_slice(trace, 2, 0, 20);
    builder_slice(trace, 3, 0, 200);
    builder_finish(trace, 400);
    struct state_timeline timeline = state_timeline_of(trace, 4, 2);
    assert_int_equal(timeline.n_threads, 2);
    assert_int_equal(timeline.n_left_out, 2);
    assert_int_equal(timeline.threads[0].thread->index, 1);
    assert_int_equal(timeline.threads[1].thread->index, 3);
    state_timeline_free(&timeline);
    trace_free(trace);
}

/* ---- what is predicted without being named ---- */

static struct pool scaling_pool(int threads) {
    return (struct pool){.name = (char *)"w",
                         .profiled_threads = threads,
                         .scales = true,
                         .threads = {.base = threads}};
}

static void assert_around(int threads, int cores, const char *thread_list, const char *core_list) {
    struct pool pool = scaling_pool(threads);
    struct model model = {.n_pools = 1, .pools = &pool, .machine.cores = cores};
    char *of_threads = around_recorded_threads(&model);
    char *of_cores = around_recorded_cores(&model);
    assert_string_equal(of_threads, thread_list);
    assert_string_equal(of_cores, core_list);
    free(of_threads);
    free(of_cores);
}

static void threads_go_to_twice_the_recorded_and_cores_to_the_recorded(void **state) {
    (void)state;
    assert_around(1, 1, "1,2", "1");
    assert_around(3, 2, "1,2,3,4,5,6", "1,2");
    assert_around(12, 12, "1,2,4,8,12,16,24", "1,2,4,8,12");
    assert_around(16, 16, "1,2,4,8,16,32", "1,2,4,8,16");
}

static void what_does_not_follow_the_threads_has_no_list(void **state) {
    (void)state;
    struct pool pool = scaling_pool(2);
    pool.scales = false;
    struct model model = {.n_pools = 1, .pools = &pool, .machine.cores = 2};
    assert_null(around_recorded_threads(&model));
}

/* ---- the file ---- */

/* The caller frees. */
static char *read_file(const char *path) {
    enum { MOST = 1 << 20 };
    char *text = memory_alloc(MOST, 1);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_true(fread(text, 1, MOST - 1, in) > 0);
    fclose(in);
    return text;
}

static void names_of_a_hostile_program_stay_text(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(0);
    builder_thread(trace, "<svg onload=alert(1)>", 0);
    uint32_t context = builder_context(trace, "<img src=x onerror=alert(1)>", 1, "\"><b>", 2);
    builder_call(trace, 0, "pthread_mutex_lock", 100, 300, 0x10, context);
    builder_finish(trace, 400);
    char *path = scratch_folder_path("hostile.html");
    const struct html_report report = {.trace = trace};
    struct error error;
    assert_int_equal(html_report_write(path, &report, &error), 0);
    char *text = read_file(path);
    assert_non_null(strstr(text, "&lt;img src=x onerror=alert(1)&gt;"));
    assert_non_null(strstr(text, "&lt;svg onload=alert(1)&gt;"));
    assert_null(strstr(text, "<img"));
    assert_null(strstr(text, "<svg onload"));
    free(text);
    free(path);
    trace_free(trace);
}

static void what_is_no_file_is_refused_and_left_alone(void **state) {
    (void)state;
    struct error error;
    char *link = scratch_folder_path("link");
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(html_report_check(link, &error), -1);
    assert_non_null(strstr(error.text, "symbolic link"));
    assert_int_equal(html_report_check(scratch_folder, &error), -1);
    assert_non_null(strstr(error.text, "not a file"));
    assert_int_equal(html_report_check("/dev/null", &error), -1);
    char *lost = scratch_folder_path("nowhere/report.html");
    assert_int_equal(html_report_check(lost, &error), -1);
    char *fine = scratch_folder_path("report.html");
    assert_int_equal(html_report_check(fine, &error), 0);
    free(link);
    free(lost);
    free(fine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_go_along_and_cores_tell_series_apart),
        cmocka_unit_test(a_load_goes_along_where_it_differs),
        cmocka_unit_test(cores_go_along_where_nothing_else_differs),
        cmocka_unit_test(one_pools_threads_are_numbers_and_several_pools_an_order),
        cmocka_unit_test(no_prediction_is_no_forecast),
        cmocka_unit_test(an_unknown_figure_is_no_number),
        cmocka_unit_test(bins_hold_what_the_thread_did_in_them),
        cmocka_unit_test(without_scheduling_time_outside_of_calls_is_computing),
        cmocka_unit_test(of_many_threads_those_that_computed_longest_are_kept),
        cmocka_unit_test(threads_go_to_twice_the_recorded_and_cores_to_the_recorded),
        cmocka_unit_test(what_does_not_follow_the_threads_has_no_list),
        cmocka_unit_test(names_of_a_hostile_program_stay_text),
        cmocka_unit_test(what_is_no_file_is_refused_and_left_alone),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
