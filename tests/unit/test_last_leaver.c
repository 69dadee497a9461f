/* The last thread of a pool closes the queue that its pool fills. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/graph/last_leaver.h"
#include "tests/unit/model_builder.h"

/* A pool of `threads` that puts into a queue or not; on the way out one of `all` closes it. */
static bool is_left_to_the_last(int threads, double all, bool puts) {
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int pool = build_pool(model, threads, true);
    int put = build_node(model, puts ? NODE_PUT : NODE_STEP, puts ? queue : MODEL_NONE);
    int fork = build_node(model, NODE_STEP, MODEL_NONE);
    int close = build_node(model, NODE_CLOSE, queue);
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, model->pools[pool].entry, put);
    build_edge(model, put, fork);
    build_edge(model, fork, end)->probability = all - 1;
    build_edge(model, fork, close);
    build_edge(model, close, end);
    last_leaver_settle(model);
    bool is = model->nodes[fork].edges[1].taker == TAKER_LAST;
    assert_int_equal(model->nodes[fork].edges[0].taker, TAKER_ANY);
    model_free(model);
    return is;
}

static void the_last_of_a_pool_closes_what_it_fills(void **state) {
    (void)state;
    assert_true(is_left_to_the_last(3, 3, true));
}

static void who_comes_by_more_often_closes_as_measured(void **state) {
    (void)state;
    assert_false(is_left_to_the_last(3, 30, true));
}

static void who_fills_nothing_closes_as_measured(void **state) {
    (void)state;
    assert_false(is_left_to_the_last(3, 3, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_a_pool_closes_what_it_fills),
        cmocka_unit_test(who_comes_by_more_often_closes_as_measured),
        cmocka_unit_test(who_fills_nothing_closes_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
