/* cli/text/quantity, assertion, table, placeholder, measurement: what the command reads and prints.
 */
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

#include "base/memory.h"
#include "cli/arguments/assertion.h"
#include "cli/arguments/placeholder.h"
#include "cli/text/quantity.h"
#include "cli/text/table.h"
#include "cli/validation/measurement.h"

/* ---- quantities ---- */

static void quantities_are_shown_with_three_digits_in_the_unit_that_fits(void **state) {
    (void)state;
    char text[QUANTITY_BYTES];
    assert_string_equal(quantity_show(1.2345e9, UNIT_TIME, text), "1.23 s");
    assert_string_equal(quantity_show(12345678, UNIT_TIME, text), "12.3 ms");
    assert_string_equal(quantity_show(999, UNIT_TIME, text), "999 ns");
    assert_string_equal(quantity_show(0, UNIT_TIME, text), "0 ns");
    assert_string_equal(quantity_show(0.934, UNIT_SHARE, text), "93.4 %");
    assert_string_equal(quantity_show(1818.2, UNIT_RATE, text), "1818 /s");
    assert_string_equal(quantity_show(NAN, UNIT_TIME, text), "-");
}

static void an_interval_limits_the_digits_shown(void **state) {
    (void)state;
    char text[QUANTITY_BYTES];
    assert_string_equal(quantity_show_interval(1.23456e9, 0.05e9, UNIT_TIME, text),
                        "1.235 s ±0.050");
    assert_string_equal(quantity_show_interval(123.456e6, 12e6, UNIT_TIME, text), "123 ms ±12");
    assert_string_equal(quantity_show_interval(123.456e6, 0, UNIT_TIME, text), "123.5 ms ±0");
    assert_string_equal(quantity_show_interval(5e9, INFINITY, UNIT_TIME, text), "5.00 s");
}

static void quantities_are_read_with_their_units(void **state) {
    (void)state;
    double value;
    assert_int_equal(quantity_parse("1.5s", UNIT_TIME, &value), 0);
    assert_true(value == 1.5e9);
    assert_int_equal(quantity_parse("2 min", UNIT_TIME, &value), 0);
    assert_true(value == 120e9);
    assert_int_equal(quantity_parse("90%", UNIT_SHARE, &value), 0);
    assert_true(fabs(value - 0.9) < 1e-12);
    assert_int_equal(quantity_parse("1Gbit/s", UNIT_BANDWIDTH, &value), 0);
    assert_true(value == 125e6);
    assert_int_equal(quantity_parse("80 kB/s", UNIT_BANDWIDTH, &value), 0);
    assert_true(value == 80e3);
    assert_int_equal(quantity_parse("1G", UNIT_BANDWIDTH, &value), -1);
    assert_int_equal(quantity_parse("100/s", UNIT_RATE, &value), 0);
    assert_true(value == 100);
}

static void a_time_without_a_unit_and_other_nonsense_is_refused(void **state) {
    (void)state;
    double value;
    assert_int_equal(quantity_parse("5", UNIT_TIME, &value), -1);
    assert_int_equal(quantity_parse("5 parsecs", UNIT_TIME, &value), -1);
    assert_int_equal(quantity_parse("", UNIT_SHARE, &value), -1);
    assert_int_equal(quantity_parse("nan", UNIT_SHARE, &value), -1);
    assert_int_equal(quantity_parse("1e999s", UNIT_TIME, &value), -1);
    assert_int_equal(quantity_parse("5%", UNIT_TIME, &value), -1);
}

/* ---- assertions ---- */

static bool keeps(const char *text, const struct sim_result *result) {
    struct assertion assertion;
    struct error error;
    double value;
    enum unit unit;
    assert_int_equal(assertion_parse("--assert", text, &assertion, &error), 0);
    return assertion_holds(&assertion, result, &value, &unit);
}

static void assertions_compare_the_predicted_mean_with_the_bound(void **state) {
    (void)state;
    struct sim_result result = {
        .run_ns = {5e9, 0}, .response_p99_ns = {4e6, 0}, .cpu_utilisation = {0.95, 0}};
    assert_true(keeps("run<5.1s", &result));
    assert_false(keeps("run<5s", &result));
    assert_true(keeps("run<=5s", &result));
    assert_true(keeps("run > 4s", &result));
    assert_true(keeps("p99<5ms", &result));
    assert_false(keeps("cpu<90%", &result));
}

/* A response time of 0 is that of a model without any. */
static void what_a_model_does_not_have_keeps_no_bound(void **state) {
    (void)state;
    struct sim_result result = {.run_ns.mean = 5e9};
    struct assertion assertion;
    struct error error;
    assert_int_equal(assertion_parse("--assert", "p99<5ms", &assertion, &error), 0);
    assert_non_null(assertion_lacks(&assertion, &result));
    result.response_p99_ns.mean = 1e6;
    assert_null(assertion_lacks(&assertion, &result));
    assert_int_equal(assertion_parse("--assert", "disk<90%", &assertion, &error), 0);
    assert_null(assertion_lacks(&assertion, &result)); /* an idle disk is one */
}

static void malformed_assertions_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",        "run",   "run<",   "run=5s",
                                      "walk<5s", "run<5", "cpu<5s", "<5s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct assertion assertion;
        struct error error = {0};
        assert_int_equal(assertion_parse("--assert", bad[i], &assertion, &error), -1);
        assert_true(strlen(error.text) > 0);
    }
}

/* ---- tables ---- */

static const struct table_column columns[] = {
    {"name", "name"}, {"run_ns", "time"}, {"run_ns_half_width", NULL}, {NULL, "seen"}};

static struct table *small_table(void) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    table_add_text(table, "a,\"b\"");
    table_add_estimate(table, (struct estimate){2e9, 0.5e9}, UNIT_TIME);
    table_add_text(table, "");
    table_add_text(table, "c");
    table_add_estimate(table, (struct estimate){NAN, NAN}, UNIT_TIME);
    table_add_text(table, "x");
    return table;
}

static char *printed(enum table_format format) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    struct table *table = small_table();
    table_print(table, format, out);
    table_free(table);
    fclose(out);
    return text;
}

static void text_tables_align_and_end_without_spaces(void **state) {
    (void)state;
    char *text = printed(FORMAT_TABLE);
    assert_string_equal(text, "name           time  seen\n"
                              "a,\"b\"  2.00 s ±0.50\n"
                              "c                 -  x\n");
    free(text);
}

static void csv_quotes_and_leaves_unknown_numbers_empty(void **state) {
    (void)state;
    char *text = printed(FORMAT_CSV);
    assert_string_equal(text, "name,run_ns,run_ns_half_width\n"
                              "\"a,\"\"b\"\"\",2e+09,500000000\n"
                              "c,,\n");
    free(text);
}

static void json_has_null_for_unknown_numbers(void **state) {
    (void)state;
    char *text = printed(FORMAT_JSON);
    json_t *rows = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(rows), 2);
    assert_true(json_number_value(json_object_get(json_array_get(rows, 0), "run_ns")) == 2e9);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "run_ns")));
    assert_null(json_object_get(json_array_get(rows, 0), "seen"));
    json_decref(rows);
    free(text);
}

/* ---- placeholders ---- */

static void placeholders_are_replaced_anywhere_and_other_braces_stay(void **state) {
    (void)state;
    char *arguments[] = {"./prog", "-t{threads}", "{cores}/{threads}", "{}", "{other}", "{", NULL};
    const struct thread_choice choice = {.all = 4};
    char **filled = placeholder_fill(arguments, &choice, 2);
    assert_string_equal(filled[1], "-t4");
    assert_string_equal(filled[2], "2/4");
    assert_string_equal(filled[3], "{}");
    assert_string_equal(filled[4], "{other}");
    assert_string_equal(filled[5], "{");
    assert_null(filled[6]);
    placeholder_free(filled);
    assert_true(placeholder_used(arguments, &choice));
    char *fixed[] = {"./prog", "{cores}", NULL};
    assert_false(placeholder_used(fixed, &choice));
}

static void pools_have_placeholders_by_their_names(void **state) {
    (void)state;
    char *arguments[] = {"./prog", "{worker}+{writer}", "{threads}", NULL};
    char *names[] = {"worker", "writer"};
    int counts[] = {8, 2};
    const struct thread_choice choice = {.n_named = 2, .names = names, .counts = counts};
    char **filled = placeholder_fill(arguments, &choice, 1);
    assert_string_equal(filled[1], "8+2");
    assert_string_equal(filled[2], "{threads}");
    placeholder_free(filled);
}

/* ---- measurements ---- */

static void add_run(struct measurements *measurements, const char *threads, uint64_t run_ns) {
    const struct program_run run = {.run_ns = run_ns,
                                    .cpu_ns = run_ns,
                                    .foreign_ns = run_ns / 5,
                                    .stolen_ns = 3,
                                    .delay_ns = 7,
                                    .longest_cpu_ns = 2};
    measurements_add(measurements, threads, 2, strcmp(threads, "4") == 0, &run);
}

static void measurements_survive_being_written_and_read(void **state) {
    (void)state;
    struct measurements written = {0};
    add_run(&written, "a=1,b=2", 30);
    add_run(&written, "a=1,b=2", 10);
    add_run(&written, "a=1,b=2", 20);
    add_run(&written, "4", 5);
    char path[] = "/tmp/persik-test.XXXXXX";
    FILE *out = fdopen(mkstemp(path), "w");
    measurements_write_header(out);
    for (size_t i = 0; i < written.count; i++)
        for (size_t j = 0; j < written.items[i].count; j++)
            measurements_write_run(out, &written.items[i], (int)j + 1, !written.items[i].asked,
                                   &written.items[i].items[j].run);
    fclose(out);
    struct measurements read;
    struct error error;
    assert_int_equal(measurements_load(path, &read, &error), 0);
    unlink(path);
    assert_int_equal(read.count, 2);
    assert_string_equal(read.items[0].threads, "a=1,b=2");
    struct summary summary = measurement_run_ns(&read.items[0]);
    assert_true(summary.median == 20 && summary.minimum == 10 && summary.maximum == 30);
    assert_true(measurement_utilisation(&read.items[0]) == 0.5);
    const struct program_run *run = &read.items[1].items[0].run;
    assert_true(run->run_ns == 5 && run->foreign_ns == 1 && run->stolen_ns == 3);
    assert_true(run->delay_ns == 7 && run->longest_cpu_ns == 2);
    assert_true(read.items[0].asked == 1 && read.items[1].asked == 0);
    assert_int_equal(read.items[1].items[0].place, 3);
    measurements_free(&written);
    measurements_free(&read);
}

static void files_of_older_versions_are_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "threads,cores,round,run_ns,cpu_ns\n4,2,1,100,50\n",
        "threads,cores,round,run_ns,cpu_ns,foreign_ns\n4,2,1,100,50,0\n",
        "threads,cores,round,run_ns,cpu_ns,foreign_ns,computing_ns,memory_ns,fastest_computing_ns,"
        "fastest_memory_ns\n4,2,1,100,50,0,1,2,3.5,4\n",
        "threads,cores,round,run_ns,cpu_ns,foreign_ns,computing_ns,memory_ns,fastest_computing_ns,"
        "fastest_memory_ns,sharing\n4,2,1,100,50,0,1,2,3.5,4,1.25\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char path[] = "/tmp/persik-test.XXXXXX";
        FILE *out = fdopen(mkstemp(path), "w");
        fputs(texts[i], out);
        fclose(out);
        struct measurements read;
        struct error error;
        assert_int_equal(measurements_load(path, &read, &error), 0);
        unlink(path);
        assert_int_equal(read.items[0].items[0].run.cpu_ns, 50);
        assert_true(read.items[0].items[0].run.delay_ns < 0 && read.items[0].asked);
        assert_true(measurement_own_run_ns(&read.items[0]).value == 100);
        measurements_free(&read);
    }
}

static void a_file_that_is_no_measurement_is_refused_with_its_line(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "threads,cores\n1,2\n",
        "threads,cores,round,run_ns,cpu_ns\n",
        "threads,cores,round,run_ns,cpu_ns\n4,2,1,100,x\n",
        "threads,cores,round,run_ns,cpu_ns,foreign_ns\n4,2,1,100,5,\n",
        "threads,cores,round,run_ns,cpu_ns,foreign_ns\n4,2,1,100,5,6,7\n",
        "threads,cores,round,run_ns,cpu_ns,slowdown\n4,2,1,100,5,1\n",
        "threads,cores,round,run_ns,cpu_ns,foreign_ns,slowdown\n4,2,1,100,5,6\n",
        "threads,cores,round,run_ns,cpu_ns,foreign_ns,slowdown\n4,2,1,100,5,6,1,1\n",
        "threads,cores,round,run_ns,cpu_ns\n\"4,2,1,100,5\n",
        "threads,cores,round,run_ns,cpu_ns\n4,0,1,100,5\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char path[] = "/tmp/persik-test.XXXXXX";
        FILE *out = fdopen(mkstemp(path), "w");
        fputs(bad[i], out);
        fclose(out);
        struct measurements read;
        struct error error = {0};
        assert_int_equal(measurements_load(path, &read, &error), -1);
        assert_non_null(strstr(error.text, path));
        unlink(path);
    }
}

static void the_median_of_an_even_number_is_between_the_middle_two(void **state) {
    (void)state;
    double values[] = {4, 1, 3, 2};
    assert_true(median_of(values, 4) == 2.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_shown_with_three_digits_in_the_unit_that_fits),
        cmocka_unit_test(an_interval_limits_the_digits_shown),
        cmocka_unit_test(quantities_are_read_with_their_units),
        cmocka_unit_test(a_time_without_a_unit_and_other_nonsense_is_refused),
        cmocka_unit_test(assertions_compare_the_predicted_mean_with_the_bound),
        cmocka_unit_test(what_a_model_does_not_have_keeps_no_bound),
        cmocka_unit_test(malformed_assertions_are_refused),
        cmocka_unit_test(text_tables_align_and_end_without_spaces),
        cmocka_unit_test(csv_quotes_and_leaves_unknown_numbers_empty),
        cmocka_unit_test(json_has_null_for_unknown_numbers),
        cmocka_unit_test(placeholders_are_replaced_anywhere_and_other_braces_stay),
        cmocka_unit_test(pools_have_placeholders_by_their_names),
        cmocka_unit_test(measurements_survive_being_written_and_read),
        cmocka_unit_test(files_of_older_versions_are_read),
        cmocka_unit_test(a_file_that_is_no_measurement_is_refused_with_its_line),
        cmocka_unit_test(the_median_of_an_even_number_is_between_the_middle_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
