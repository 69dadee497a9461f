/* The drawing of a model. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "modelgen/report/dot.h"
#include "tests/unit/model_builder.h"

/* The Graphviz source of the model, which is freed. */
static char *drawing_of(struct model *model) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(dot_write(model, out), 0);
    fclose(out);
    model_free(model);
    return text;
}

static void pools_objects_edges_and_the_machine_are_drawn(void **state) {
    (void)state;
    struct model *model = build_model(4);
    int queue = build_object(model, OBJECT_QUEUE, 3);
    int pool = build_pool(model, 2, true);
    int get = build_next(model, model->pools[pool].entry, constant(2e6), NODE_GET, queue);
    build_edge(model, get, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_NO;
    build_edge(model, get, get)->taker = TAKER_LAST;
    char *text = drawing_of(model);
    assert_non_null(strstr(text, "label=\"pool-0\""));
    assert_non_null(strstr(text, "o0 [shape=box"));
    assert_non_null(strstr(text, "n0 -> n1 [label=\"2 ms\"]"));
    assert_non_null(strstr(text, "n1 -> n2 [label=\"no \"]"));
    assert_non_null(strstr(text, "n1 -> n1 [label=\"last \"]"));
    assert_non_null(strstr(text, "n1 -> o0 [style=dotted"));
    assert_non_null(strstr(text, "4 cores"));
    free(text);
}

/* Names come from programs: they must not end the text that they stand in. */
static void names_are_quoted(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int object = build_object(model, OBJECT_MUTEX, 0);
    free(model->objects[object].name);
    model->objects[object].name = memory_strdup("a\"b\\c\nd");
    char *text = drawing_of(model);
    assert_non_null(strstr(text, "label=\"a\\\"b\\\\c"));
    assert_null(strstr(text, "c\nd"));
    free(text);
}

static void what_comes_from_outside_is_drawn(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int open = build_object(model, OBJECT_QUEUE, 0);
    int closed = build_object(model, OBJECT_QUEUE, 0);
    model->objects[open].interarrival_ns = exponential(5e6);
    model->objects[closed].clients = 64;
    char *text = drawing_of(model);
    assert_non_null(strstr(text, "queue-0: 200/s arrive"));
    assert_non_null(strstr(text, "queue-1: 64 clients"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_objects_edges_and_the_machine_are_drawn),
        cmocka_unit_test(names_are_quoted),
        cmocka_unit_test(what_comes_from_outside_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
