/* modelgen/form_check: the forms that have a check are those of passes.def, and a damaged one is
 * found by its name. What each check finds, its own test shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "modelgen/build.h"
#include "modelgen/form_check.h"
#include "modelgen/passes.h"

static bool is_form(const char *name) {
    for (size_t f = 0; f < passes.n_forms; f++)
        if (strcmp(passes.forms[f].name, name) == 0)
            return true;
    return false;
}

static void assert_found(const char *form, const struct build *build, const char *with) {
    struct error error = {0};
    assert_true(is_form(form));
    assert_int_equal(form_check(form, build, &error), -1);
    assert_non_null(strstr(error.text, with));
}

static void a_damaged_form_is_found_by_its_name(void **state) {
    (void)state;
    struct trace_thread thread = {0};
    struct trace trace = {.n_threads = 1, .threads = &thread};
    struct stream stream = {0};
    struct object object = {.name = "queue",
                            .kind = OBJECT_QUEUE,
                            .condition_of = MODEL_NONE,
                            .comes_by = MODEL_NONE,
                            .goes_by = MODEL_NONE,
                            .dealt_to = 7};
    struct node node = {.name = "lost", .kind = NODE_END, .pool = MODEL_NONE};
    struct pool pool = {.name = "worker", .confidence = 2};
    struct partition_evidence evidence = {0};
    struct model model = {.n_objects = 1,
                          .objects = &object,
                          .n_pools = 1,
                          .pools = &pool,
                          .n_nodes = 1,
                          .nodes = &node};
    const struct build build = {
        .trace = &trace, .model = &model, .streams.streams = &stream, .evidence = &evidence};
    assert_found("steps", &build, "thread 0: does not both start and end");
    assert_found("objects", &build, "object 0 (queue): deals numbers");
    assert_found("graph", &build, "node 0 (lost): is in no pool");
    assert_found("scaling", &build, "pool 0 (worker): does not say its rule");
}

static void a_form_without_a_check_is_sound(void **state) {
    (void)state;
    assert_int_equal(form_check("no such form", NULL, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_form_is_found_by_its_name),
        cmocka_unit_test(a_form_without_a_check_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
