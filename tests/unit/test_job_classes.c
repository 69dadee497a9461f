/* Items of a queue that lead their takers different ways, by where they were put. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum {
    MUTEX = 0x1000,
    SOME = 0x2000,
    ITEMS = 100,
    EACH_NS = 20000,
    WAIT_NS = 900,
    LIGHT_NS = 1000
};

/* Main puts heavy and light jobs at two places in no order, and a worker waits for each; a heavy
 * one takes it so long. */
static struct model *jobs(uint64_t heavy_ns) {
    struct trace *trace = builder_new_with_workers(1);
    unsigned random = 7;
    builder_create(trace, 0, 1, 1, builder_context(trace, "main", 900, "main", 900), 1);
    for (uint64_t i = 1; i <= ITEMS; i++) {
        random = random * 1664525u + 1013904223u;
        bool heavy = random >> 31;
        uint64_t put = EACH_NS * i, got = put + 50;
        builder_section(trace, 0,
                        (struct builder_section){.function = "put",
                                                 .line = 10,
                                                 .caller = "main",
                                                 .caller_line = heavy ? 910 : 920,
                                                 .mutex = MUTEX,
                                                 .start_ns = put,
                                                 .signals_after = SOME,
                                                 .end_ns = put + 10});
        builder_section(trace, 1,
                        (struct builder_section){.function = "get",
                                                 .line = 20,
                                                 .mutex = MUTEX,
                                                 .start_ns = put - WAIT_NS,
                                                 .waits_for = SOME,
                                                 .woken_ns = got,
                                                 .end_ns = got + 10});
        builder_slice(trace, 1, got, got + 10 + (heavy ? heavy_ns : LIGHT_NS));
    }
    builder_finish(trace, EACH_NS * (ITEMS + 1));
    return builder_model(trace, NULL);
}

/* How many nodes of this sort have a kind of items, and which. */
static int kinds_of(const struct model *model, enum node_kind node, int *sum) {
    int n = 0;
    *sum = 0;
    for (size_t i = 0; i < model->n_nodes; i++)
        if (model->nodes[i].kind == node && model->nodes[i].item_kind > 0) {
            n++;
            *sum += model->nodes[i].item_kind;
        }
    return n;
}

static void jobs_of_two_places_that_take_longer_or_less_are_told_apart(void **state) {
    (void)state;
    struct model *model = jobs(10 * LIGHT_NS);
    int sum;
    assert_int_equal(kinds_of(model, NODE_PUT, &sum), 2);
    assert_int_equal(sum, 1 + 2);
    assert_int_equal(kinds_of(model, NODE_STEP, &sum), 2); /* behind the get */
    assert_int_equal(sum, 1 + 2);
    model_free(model);
}

static void jobs_that_are_alike_are_of_one_kind(void **state) {
    (void)state;
    struct model *model = jobs(LIGHT_NS);
    int sum;
    assert_int_equal(kinds_of(model, NODE_PUT, &sum), 0);
    assert_int_equal(kinds_of(model, NODE_STEP, &sum), 0);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_of_two_places_that_take_longer_or_less_are_told_apart),
        cmocka_unit_test(jobs_that_are_alike_are_of_one_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
