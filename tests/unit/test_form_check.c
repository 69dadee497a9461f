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
    struct object object = {
        .name = "queue", .kind = OBJECT_QUEUE, .condition_of = MODEL_NONE, .dealt_to = MODEL_NONE};
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
    assert_found("objects", &build, "object 0 (queue): is used by nobody");
    assert_found("graph", &build, "node 0 (lost): is in no pool");
    assert_found("scaling", &build, "pool 0 (worker): does not say its rule");
}

static void an_object_is_used_by_a_step_or_by_who_waits_on_its_condition(void **state) {
    (void)state;
    struct trace_thread thread = {0};
    struct trace trace = {.n_threads = 1, .threads = &thread};
    struct step steps[] = {step_new(NODE_START, 0, 0, TRACE_NO_CONTEXT),
                           step_new(NODE_GET, 1, 2, TRACE_NO_CONTEXT),
                           step_new(NODE_END, 3, 3, TRACE_NO_CONTEXT)};
    steps[1].use.object = 0;
    steps[1].use.mutex = 2;
    struct stream stream = {3, steps};
    struct object objects[] = {
        {.name = "room", .kind = OBJECT_QUEUE, .condition_of = 1, .dealt_to = MODEL_NONE},
        {.name = "queue", .kind = OBJECT_QUEUE, .condition_of = MODEL_NONE, .dealt_to = MODEL_NONE},
        {.name = "mutex",
         .kind = OBJECT_MUTEX,
         .condition_of = MODEL_NONE,
         .dealt_to = MODEL_NONE}};
    struct model model = {.n_objects = 3, .objects = objects};
    const struct build build = {.trace = &trace, .model = &model, .streams.streams = &stream};
    assert_int_equal(form_check("objects", &build, NULL), 0);
    assert_int_equal(form_check("steps", &build, NULL), 0);
    steps[1].use.mutex = MODEL_NONE;
    assert_found("objects", &build, "object 2 (mutex): is used by nobody");
}

static void a_form_without_a_check_is_sound(void **state) {
    (void)state;
    assert_int_equal(form_check("no such form", NULL, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_form_is_found_by_its_name),
        cmocka_unit_test(an_object_is_used_by_a_step_or_by_who_waits_on_its_condition),
        cmocka_unit_test(a_form_without_a_check_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
