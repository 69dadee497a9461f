/* The room of a queue that never filled up in the recorded run: a model limits it all the same. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, SOME = 0x2000, ROUNDS = 20, BURST = 3, EACH_NS = 100, ROUND_NS = 10000 };

/* Main puts BURST items one after the other, and never waits; the worker waits for the first of
 * them, and gets the others. */
static struct trace *bursts(void) {
    struct trace *trace = builder_new_with_workers(1);
    builder_create(trace, 0, 1, 1, builder_context(trace, "main", 900, "main", 900), 1);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t first = ROUND_NS * i, all = first + BURST * EACH_NS;
        for (uint64_t b = 0; b < BURST; b++)
            builder_section(trace, 0,
                            (struct builder_section){.function = "put",
                                                     .line = 10,
                                                     .mutex = MUTEX,
                                                     .start_ns = first + EACH_NS * b,
                                                     .signals_after = SOME,
                                                     .end_ns = first + EACH_NS * b + 10});
        for (uint64_t b = 0; b < BURST; b++)
            builder_section(trace, 1,
                            (struct builder_section){.function = "get",
                                                     .line = 20,
                                                     .mutex = MUTEX,
                                                     .start_ns = b ? all + EACH_NS * b : first - 50,
                                                     .waits_for = b ? 0 : SOME,
                                                     .woken_ns = b ? 0 : all,
                                                     .end_ns = all + EACH_NS * b + 10});
    }
    builder_run_all(trace, ROUND_NS * (ROUNDS + 1));
    builder_finish(trace, ROUND_NS * (ROUNDS + 1));
    return trace;
}

/* How many tokens of that amount a model has, by whose user it is a bounded queue of `capacity`. */
static size_t limits_of(double capacity) {
    struct builder_queue queue;
    const struct facts *facts = builder_queue_facts(&queue, "put", 10, "get", 20);
    queue.monitor.kind = MONITOR_BOUNDED_QUEUE;
    queue.monitor.users_word = true;
    queue.monitor.amount =
        (struct facts_amount){.text = "room", .constant = true, .offset = capacity};
    struct model *model = builder_model(bursts(), facts);
    size_t n = 0, queues = 0;
    for (size_t o = 0; o < model->n_objects; o++) {
        n += model->objects[o].kind == OBJECT_TOKENS && model->objects[o].amount.base == capacity;
        queues += model->objects[o].kind == OBJECT_QUEUE;
    }
    assert_int_equal(queues, 1);
    model_free(model);
    return n;
}

static void who_puts_waits_for_the_room_that_is_said(void **state) {
    (void)state;
    assert_int_equal(limits_of(8), 1);
    assert_int_equal(limits_of(BURST), 1);
}

static void room_for_less_than_there_was_is_not_believed(void **state) {
    (void)state;
    assert_int_equal(limits_of(BURST - 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_puts_waits_for_the_room_that_is_said),
        cmocka_unit_test(room_for_less_than_there_was_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
