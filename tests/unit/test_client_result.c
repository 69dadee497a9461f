/* formats/client_result.c, and the load's placeholders. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/arguments/placeholder.h"
#include "formats/client_result.h"
#include "tests/unit/scratch_folder.h"

static int read_text(const char *text, struct client_result *result, struct error *error) {
    char *path = memory_format("%s/result.json", scratch_folder);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    int status = client_result_read(path, result, error);
    free(path);
    return status;
}

static void all_that_is_compared_is_read(void **state) {
    (void)state;
    struct client_result result;
    struct error error;
    assert_int_equal(read_text("{\"requests\": 100, \"errors\": 3, \"seconds\": 2, "
                               "\"throughput_per_s\": 50, \"response_ns\": {\"mean\": 1e6, "
                               "\"p50\": 9e5, \"p95\": 3e6, \"p99\": 4e6, \"max\": 5e6}}",
                               &result, &error),
                     0);
    assert_true(result.requests == 100 && result.errors == 3 && result.seconds == 2);
    assert_true(result.throughput_hz == 50);
    assert_true(result.response_ns == 1e6 && result.response_p95_ns == 3e6);
}

static void response_times_may_be_unknown(void **state) {
    (void)state;
    struct client_result result;
    struct error error;
    assert_int_equal(read_text("{\"requests\": 1, \"throughput_per_s\": 5}", &result, &error), 0);
    assert_true(isnan(result.response_ns) && isnan(result.response_p95_ns));
    assert_true(result.errors == 0);
}

static void what_is_no_result_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "[]",
                                        "{}",
                                        "{\"requests\": 0, \"throughput_per_s\": 0}",
                                        "{\"requests\": \"many\", \"throughput_per_s\": 5}",
                                        "{\"requests\": 7, \"throughput_per_s\": -5}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct client_result result;
        struct error error = {0};
        assert_int_equal(read_text(texts[i], &result, &error), -1);
        assert_non_null(strstr(error.text, "client results in docs/formats.md"));
    }
}

static void a_load_has_placeholders_of_its_own(void **state) {
    (void)state;
    const struct thread_choice choice = {.all = 4};
    const struct placeholder_value more[] = {{"rate", 250}, {"clients", 0}};
    char *filled = placeholder_fill_text("a {rate}/s {threads} {cores} {clients} {other} {",
                                         &choice, 2, more, 2);
    assert_string_equal(filled, "a 250/s 4 2 {clients} {other} {");
    free(filled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_compared_is_read),
        cmocka_unit_test(response_times_may_be_unknown),
        cmocka_unit_test(what_is_no_result_is_refused),
        cmocka_unit_test(a_load_has_placeholders_of_its_own),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
