/* How those who wait are told that something was added: one or all, always or only at some changes.
 */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, SOME = 0x2000, ROUNDS = 20, EACH_NS = 100, ROUND_NS = 10000 };

/* How main tells the worker of two items that it puts in a row while the worker waits for the
 * first. */
struct telling {
    bool first, second; /* is anybody told? */
    bool broadcasts;
};

/* The model's one queue as a copy without what it owns. */
static struct object queue_with(struct telling telling) {
    struct trace *trace = builder_new_with_workers(1);
    builder_create(trace, 0, 1, 1, builder_context(trace, "main", 900, "main", 900), 1);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t first = ROUND_NS * i, all = first + 2 * EACH_NS;
        for (uint64_t b = 0; b < 2; b++)
            builder_section(trace, 0,
                            (struct builder_section){
                                .function = "put",
                                .line = 10,
                                .mutex = MUTEX,
                                .start_ns = first + EACH_NS * b,
                                .signals_after = (b ? telling.second : telling.first) ? SOME : 0,
                                .broadcasts = telling.broadcasts,
                                .end_ns = first + EACH_NS * b + 10});
        builder_section(trace, 1,
                        (struct builder_section){.function = "get",
                                                 .line = 20,
                                                 .mutex = MUTEX,
                                                 .start_ns = first - 50,
                                                 .waits_for = SOME,
                                                 .woken_ns = all,
                                                 .end_ns = all + 10});
        builder_section(trace, 1,
                        (struct builder_section){.function = "get",
                                                 .line = 20,
                                                 .mutex = MUTEX,
                                                 .start_ns = all + EACH_NS,
                                                 .end_ns = all + EACH_NS + 10});
    }
    builder_run_all(trace, ROUND_NS * (ROUNDS + 1));
    builder_finish(trace, ROUND_NS * (ROUNDS + 1));
    struct builder_queue queue;
    struct model *model = builder_model(trace, builder_queue_facts(&queue, "put", 10, "get", 20));
    struct object found = {.kind = OBJECT_MUTEX};
    for (size_t o = 0; o < model->n_objects; o++)
        found = model->objects[o].kind == OBJECT_QUEUE ? model->objects[o] : found;
    assert_int_equal(found.kind, OBJECT_QUEUE);
    model_free(model);
    return found;
}

static void signals_wake_one(void **state) {
    (void)state;
    assert_false(queue_with((struct telling){true, true, false}).wakes_all);
}

static void broadcasts_wake_all(void **state) {
    (void)state;
    struct object queue = queue_with((struct telling){true, true, true});
    assert_true(queue.wakes_all);
    assert_false(queue.when_empty);
}

static void broadcasts_into_what_is_empty_are_told_from_others(void **state) {
    (void)state;
    struct object queue = queue_with((struct telling){true, false, true});
    assert_true(queue.wakes_all);
    assert_true(queue.when_empty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_wake_one),
        cmocka_unit_test(broadcasts_wake_all),
        cmocka_unit_test(broadcasts_into_what_is_empty_are_told_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
