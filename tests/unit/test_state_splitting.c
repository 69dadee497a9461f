/* Nodes whose way on depends on how threads came to them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

/* A worker that is given two jobs by turns, through the same two calls: what comes next shows only
 * three steps back. */
static void the_job_before_tells_the_next_one(void **state) {
    (void)state;
    static const char *const calls[] = {"first", "finish", "wait", "second", "finish", "wait"};
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    for (uint64_t i = 0; i < 60; i++)
        builder_record(trace, thread, "nanosleep", 1000 + 1000 * i, 500, 0,
                       builder_context(trace, calls[i % 6], 10, "main", 20), 0);
    builder_finish(trace, 62000);
    struct model *model = builder_model(trace, NULL);
    for (size_t n = 0; n < model->n_nodes; n++) { /* it goes one way, or ends there */
        const struct node *node = &model->nodes[n];
        size_t ways = 0;
        for (size_t e = 0; e < node->n_edges; e++)
            ways += model->nodes[node->edges[e].to].kind != NODE_END;
        assert_true(ways <= 1);
    }
    model_free(model);
}

/* How many nodes there are of the sleep in nap(), which is called after `first` or `second`, at
 * random or by turns, and after which the same comes again if it `tells`, else the one or the other
 * by chance. */
static size_t naps(bool tells) {
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    unsigned random = 7;
    bool first = true;
    for (uint64_t i = 0; i < 200; i++) {
        random = random * 1664525u + 1013904223u;
        uint64_t now = 1000 + 3000 * i;
        bool before = first;
        first = random >> 31;
        builder_record(trace, thread, "nanosleep", now, 500, 0,
                       builder_context(trace, before ? "first" : "second", 10, "main", 20), 0);
        builder_record(trace, thread, "nanosleep", now + 1000, 500, 0,
                       builder_context(trace, "nap", 10, "main", 20), 0);
        builder_record(
            trace, thread, "nanosleep", now + 2000, 500, 0,
            builder_context(trace, (tells ? before : first) ? "one" : "other", 10, "main", 20), 0);
    }
    builder_finish(trace, 1000000);
    struct model *model = builder_model(trace, NULL);
    size_t n_naps = 0;
    for (size_t n = 0; n < model->n_nodes; n++)
        n_naps += strstr(model->nodes[n].name, "nap (") != NULL;
    model_free(model);
    return n_naps;
}

static void a_node_is_split_where_its_history_tells_the_way_on(void **state) {
    (void)state;
    assert_int_equal(naps(true), 2);
}

static void and_is_one_where_it_does_not(void **state) {
    (void)state;
    assert_int_equal(naps(false), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_job_before_tells_the_next_one),
        cmocka_unit_test(a_node_is_split_where_its_history_tells_the_way_on),
        cmocka_unit_test(and_is_one_where_it_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
