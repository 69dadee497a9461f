/* Tokens that one of several places gives back for each item come back at one of them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/graph/token_returns.h"
#include "tests/unit/model_builder.h"

enum { ITEMS = 10 };

/* A fork from which some of the ITEMS give a token back, and the others do not; gives the node
 * where both go on. */
static int build_return(struct model *model, int fork, int tokens, int giving) {
    int release = build_node(model, NODE_RELEASE, tokens);
    int both = build_node(model, NODE_STEP, MODEL_NONE);
    build_edge(model, fork, release)->probability = giving;
    build_edge(model, fork, both)->probability = ITEMS - giving;
    build_edge(model, release, both);
    return both;
}

/* Two such places one after the other. */
struct places {
    struct model *model;
    int first, second; /* forks */
};

static struct places build_places(int giving_first, int giving_second) {
    struct model *model = build_model(2);
    int tokens = build_object(model, OBJECT_TOKENS, 3);
    int pool = build_pool(model, 2, true);
    int first = build_node(model, NODE_STEP, MODEL_NONE);
    build_edge(model, model->pools[pool].entry, first);
    int second = build_return(model, first, tokens, giving_first);
    int end = build_node(model, NODE_END, MODEL_NONE);
    if (giving_second >= 0)
        build_edge(model, build_return(model, second, tokens, giving_second), end);
    else
        build_edge(model, second, end);
    token_returns_settle(model);
    return (struct places){model, first, second};
}

static size_t n_ways(const struct places *places, int fork) {
    return places->model->nodes[fork].n_edges;
}

static void all_are_given_back_where_most_are(void **state) {
    (void)state;
    struct places places = build_places(7, 3);
    const struct model *model = places.model;
    assert_int_equal(n_ways(&places, places.first), 1);
    const struct edge *only = &model->nodes[places.first].edges[0];
    assert_int_equal(model->nodes[only->to].kind, NODE_RELEASE);
    assert_true(only->probability == 1);
    size_t releases = 0; /* the other place's is gone */
    for (size_t n = 0; n < model->n_nodes; n++) {
        releases += model->nodes[n].kind == NODE_RELEASE;
        assert_true(model->nodes[n].n_edges <= 1);
    }
    assert_int_equal(releases, 1);
    model_free(places.model);
}

static void what_is_not_once_for_each_item_stays(void **state) {
    (void)state;
    struct places places = build_places(7, 7);
    assert_int_equal(n_ways(&places, places.first), 2);
    assert_int_equal(n_ways(&places, places.second), 2);
    model_free(places.model);
}

/* Some keep theirs: who does is chance, as it was measured. */
static void one_place_alone_stays(void **state) {
    (void)state;
    struct places places = build_places(ITEMS - 1, -1);
    assert_int_equal(n_ways(&places, places.first), 2);
    model_free(places.model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_given_back_where_most_are),
        cmocka_unit_test(what_is_not_once_for_each_item_stays),
        cmocka_unit_test(one_place_alone_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
