/* modelgen/graph/graph_check: each kind of damage to the model's objects and graphs is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_builder.h"
#include "modelgen/graph/graph_check.h"

enum { MUTEX, QUEUE, ROOM, BARRIER, MONITOR, N_OBJECTS };
enum { BEGIN, CREATE, GIVE, END_OF_MAIN, BEGIN_OF_WORKER, TAKE, END_OF_WORKER, N_NODES };

static struct model *make_objects(void) {
    struct model *model = build_model(1);
    build_object(model, OBJECT_MUTEX, 0);
    build_object(model, OBJECT_QUEUE, 0);
    build_object(model, OBJECT_TOKENS, 4);
    build_object(model, OBJECT_BARRIER, 2);
    build_object(model, OBJECT_MONITOR, 0);
    model->objects[ROOM].condition_of = QUEUE;
    build_statements(model, MONITOR);
    return model;
}

/* The first thread gives; workers take until there is no more. */
static struct model *make_graph(void) {
    struct model *model = make_objects();
    struct dist cpu = constant(100);
    build_node(model, NODE_START, MODEL_NONE);
    build_next(model, BEGIN, cpu, NODE_CREATE, MODEL_NONE);
    build_next(model, CREATE, cpu, NODE_PUT, QUEUE);
    build_next(model, GIVE, cpu, NODE_END, MODEL_NONE);
    build_node(model, NODE_START, MODEL_NONE);
    build_next(model, BEGIN_OF_WORKER, cpu, NODE_GET, QUEUE);
    build_next(model, TAKE, cpu, NODE_END, MODEL_NONE);
    build_edge(model, TAKE, TAKE);
    model->nodes[CREATE].target_pool = 1;
    model->nodes[TAKE].mutex = MUTEX;
    model->nodes[TAKE].edges[0].when = OUTCOME_NO;
    model->nodes[TAKE].edges[1].when = OUTCOME_YES;
    model->n_pools = 2;
    model->pools = memory_alloc(2, sizeof *model->pools);
    model->pools[0] = (struct pool){.name = memory_strdup("main"), .entry = BEGIN};
    model->pools[1] = (struct pool){.name = memory_strdup("worker"), .entry = BEGIN_OF_WORKER};
    for (int n = BEGIN_OF_WORKER; n < N_NODES; n++)
        model->nodes[n].pool = 1;
    return model;
}

static void assert_found_in_objects(struct model *model, const char *with) {
    struct error error = {0};
    assert_int_equal(objects_check(model, &error), -1);
    assert_non_null(strstr(error.text, with));
}

static void assert_found_in_graph(struct model *model, const char *with) {
    struct error error = {0};
    assert_int_equal(graph_check(model, &error), -1);
    assert_non_null(strstr(error.text, with));
}

/* The model with one field as it should not be, and then as it was. */
#define ASSERT_FOUND(assert_found, field, value)                                                   \
    do {                                                                                           \
        __typeof__(model->field) was = model->field;                                               \
        model->field = value;                                                                      \
        assert_found;                                                                              \
        model->field = was;                                                                        \
    } while (0)
#define OBJECT_FOUND(with, field, value)                                                           \
    ASSERT_FOUND(assert_found_in_objects(model, with), field, value)
#define GRAPH_FOUND(with, field, value)                                                            \
    ASSERT_FOUND(assert_found_in_graph(model, with), field, value)

static void sound_objects_and_graphs_pass(void **state) {
    (void)state;
    struct model *model = make_graph();
    assert_int_equal(objects_check(model, NULL), 0);
    assert_int_equal(graph_check(model, NULL), 0);
    model_free(model);
}

static void damage_to_an_object_is_found(void **state) {
    (void)state;
    struct model *model = make_graph();
    struct linear_term term = {.pool = 2, .factor = 1};
    OBJECT_FOUND("object 0 (mutex-0): has an unknown kind", objects[MUTEX].kind, 99);
    OBJECT_FOUND("object 1 (?): has no name", objects[QUEUE].name, NULL);
    OBJECT_FOUND("has no sound amount", objects[ROOM].amount.base, NAN);
    OBJECT_FOUND("has no sound amount", objects[ROOM].refilled_after.base, INFINITY);
    OBJECT_FOUND("has no sound amount", objects[ROOM].amount,
                 ((struct linear){.n_terms = 1, .terms = &term}));
    term = (struct linear_term){.pool = 1, .factor = NAN};
    OBJECT_FOUND("has no sound amount", objects[ROOM].amount,
                 ((struct linear){.n_terms = 1, .terms = &term}));
    OBJECT_FOUND("without parties", objects[BARRIER].amount.base, 0);
    OBJECT_FOUND("bounded, but no queue", objects[ROOM].bounded, true);
    OBJECT_FOUND("items or servers", objects[QUEUE].initial_items, -1);
    OBJECT_FOUND("items or servers", objects[QUEUE].items_in_all, NAN);
    OBJECT_FOUND("items or servers", objects[QUEUE].servers, -1);
    OBJECT_FOUND("deals numbers", objects[QUEUE].dealt_to, 2);
    OBJECT_FOUND("waits on the condition of no object", objects[ROOM].condition_of, N_OBJECTS);
    OBJECT_FOUND("waits on the condition of no object", objects[ROOM].condition_of, ROOM);
    OBJECT_FOUND("waits on the condition of no object", objects[QUEUE].condition_of, ROOM);
    OBJECT_FOUND("parts of a monitor", objects[MONITOR].kind, OBJECT_FLAG);
    OBJECT_FOUND("parts of a monitor", objects[MUTEX].kind, OBJECT_MONITOR);
    model_free(model);
}

static void damage_to_a_node_is_found(void **state) {
    (void)state;
    struct model *model = make_graph();
    GRAPH_FOUND("node 0 (start-0): is in no pool", nodes[BEGIN].pool, MODEL_NONE);
    GRAPH_FOUND("is in no pool", nodes[BEGIN].pool, 2);
    GRAPH_FOUND("no object of its kind", nodes[GIVE].object, MODEL_NONE);
    GRAPH_FOUND("no object of its kind", nodes[GIVE].object, N_OBJECTS);
    GRAPH_FOUND("no object of its kind", nodes[GIVE].object, MUTEX);
    GRAPH_FOUND("no object of its kind", nodes[CREATE].object, MUTEX);
    GRAPH_FOUND("no mutex", nodes[TAKE].mutex, QUEUE);
    GRAPH_FOUND("no mutex", nodes[TAKE].mutex, N_OBJECTS);
    GRAPH_FOUND("joins no pool", nodes[CREATE].target_pool, 2);
    GRAPH_FOUND("joins a pool", nodes[GIVE].target_pool, 1);
    GRAPH_FOUND("ends its threads and goes on", nodes[GIVE].kind, NODE_END);
    GRAPH_FOUND("ends its threads and goes on", nodes[END_OF_MAIN].kind, NODE_STEP);
    model_free(model);
}

static void damage_to_an_edge_is_found(void **state) {
    (void)state;
    struct model *model = make_graph();
    GRAPH_FOUND("node 5 (get-5): leads nowhere", nodes[TAKE].edges[1].to, N_NODES);
    GRAPH_FOUND("leads nowhere", nodes[TAKE].edges[1].to, -1);
    GRAPH_FOUND("leads into another pool", nodes[TAKE].edges[1].to, GIVE);
    GRAPH_FOUND("node 6 (end-6): no thread comes to it", nodes[TAKE].edges[0].to, TAKE);
    GRAPH_FOUND("unknown outcome", nodes[TAKE].edges[1].when, 9);
    GRAPH_FOUND("no sound weight", nodes[TAKE].edges[1].probability, -1);
    GRAPH_FOUND("no sound weight", nodes[TAKE].edges[1].first, NAN);
    GRAPH_FOUND("never taken", nodes[TAKE].edges[1].probability, 0);
    model->nodes[TAKE].edges[0].when = OUTCOME_YES;
    model->nodes[TAKE].edges[0].taker = TAKER_LAST;
    GRAPH_FOUND("one thread takes for all", nodes[TAKE].edges[1].taker, TAKER_FIRST);
    model->nodes[TAKE].edges[0].when = OUTCOME_NO;
    GRAPH_FOUND("less than once in a row", nodes[TAKE].edges[1].runs, constant(0.5));
    GRAPH_FOUND("no sound computation", nodes[TAKE].edges[1].cpu_ns, constant(INFINITY));
    model->nodes[TAKE].edges[1].runs = constant(3);
    GRAPH_FOUND("both leaves its loop and goes on", nodes[TAKE].edges[1].leaves, true);
    model_free(model);
}

static void damage_to_a_course_is_found(void **state) {
    (void)state;
    struct model *model = make_graph();
    double course[] = {1, 2, 0, 1};
    struct node *node = &model->nodes[TAKE];
    node->course = course;
    GRAPH_FOUND("ends in the middle", nodes[TAKE].n_course, 3);
    node->n_course = 4;
    assert_int_equal(graph_check(model, NULL), 0);
    course[0] = 2;
    assert_found_in_graph(model, "edges that it does not have");
    course[0] = 1;
    course[3] = 0;
    assert_found_in_graph(model, "edges that it does not have");
    node->course = NULL;
    node->n_course = 0;
    model_free(model);
}

static void a_graph_without_a_start_is_found(void **state) {
    (void)state;
    struct model *model = make_graph();
    GRAPH_FOUND("pool 1 (worker): does not begin", pools[1].entry, MODEL_NONE);
    GRAPH_FOUND("pool 1 (worker): does not begin", pools[1].entry, N_NODES);
    GRAPH_FOUND("pool 1 (worker): does not begin", pools[1].entry, BEGIN);
    GRAPH_FOUND("pool 1 (worker): does not begin", pools[1].entry, TAKE);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_objects_and_graphs_pass),
        cmocka_unit_test(damage_to_an_object_is_found),
        cmocka_unit_test(damage_to_a_node_is_found),
        cmocka_unit_test(damage_to_an_edge_is_found),
        cmocka_unit_test(damage_to_a_course_is_found),
        cmocka_unit_test(a_graph_without_a_start_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
