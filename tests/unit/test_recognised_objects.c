/* What a person would call the objects that the program made itself, and how well their waits are
 * modelled. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, SOME = 0x2000, ROUNDS = 20, WAIT_NS = 900 };

/* A worker waits for each item that main puts. */
static struct model *queue_model(const struct facts *facts) {
    struct trace *trace = builder_new_with_workers(1);
    builder_create(trace, 0, 1, 1, builder_context(trace, "main", 900, "main", 900), 1);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t now = 10000 * i;
        builder_section(trace, 0,
                        (struct builder_section){.function = "put",
                                                 .line = 10,
                                                 .mutex = MUTEX,
                                                 .start_ns = now + WAIT_NS - 10,
                                                 .signals_after = SOME,
                                                 .end_ns = now + WAIT_NS - 5});
        builder_section(trace, 1,
                        (struct builder_section){.function = "get",
                                                 .line = 20,
                                                 .mutex = MUTEX,
                                                 .start_ns = now - 1,
                                                 .waits_for = SOME,
                                                 .woken_ns = now + WAIT_NS,
                                                 .end_ns = now + WAIT_NS + 10});
    }
    builder_run_all(trace, 10000 * (ROUNDS + 1));
    builder_finish(trace, 10000 * (ROUNDS + 1));
    return builder_model(trace, facts);
}

static const struct hand_made_operation *operation(const struct hand_made *object,
                                                   enum hand_made_role as) {
    for (size_t i = 0; i < object->n_operations; i++)
        if (object->operations[i].as == as)
            return &object->operations[i];
    fail_msg("no such operation");
    return NULL;
}

static void a_queue_has_its_name_operations_and_evidence(void **state) {
    (void)state;
    struct builder_queue queue;
    struct model *model = queue_model(builder_queue_facts(&queue, "put", 10, "get", 20));
    assert_int_equal(model->n_monitors, 1);
    const struct hand_made *object = &model->monitors[0];
    assert_int_equal(object->kind, HAND_MADE_UNBOUNDED_QUEUE);
    assert_non_null(strstr(object->name, "struct queue"));
    assert_string_equal(operation(object, AS_PUT)->function, "put");
    assert_string_equal(operation(object, AS_GET)->function, "get");
    assert_true(object->replayed >= 2 * ROUNDS && object->violations == 0);
    assert_int_equal(object->how, MODELLED_EXACTLY);
    assert_true(object->n_evidence > 0);
    assert_true(object->n_made_of == 1 &&
                model->objects[object->made_of[0].object].kind == OBJECT_QUEUE);
    model_free(model);
}

static void its_waits_are_listed_as_modelled_exactly(void **state) {
    (void)state;
    struct model *model = queue_model(NULL);
    const struct waiting_share *found = NULL;
    for (size_t i = 0; i < model->n_waiting; i++)
        if (strstr(model->waiting[i].what, "condition, get"))
            found = &model->waiting[i];
    assert_non_null(found);
    assert_int_equal(found->how, MODELLED_EXACTLY);
    assert_true(found->wait_ns == WAIT_NS * ROUNDS);
    model_free(model);
}

/* A lock that nothing is waited for under is none of them. */
static void a_mutex_alone_is_no_such_object(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    for (uint64_t i = 0; i < ROUNDS; i++)
        for (int t = 0; t < 2; t++)
            builder_section(trace, t,
                            (struct builder_section){.function = "count",
                                                     .line = 10,
                                                     .mutex = MUTEX,
                                                     .start_ns = 100 * i + 50 * (uint64_t)t + 10});
    builder_run_all(trace, 10000);
    builder_finish(trace, 10000);
    struct model *model = builder_model(trace, NULL);
    assert_int_equal(model->n_monitors, 0);
    assert_int_equal(model->n_waiting, 0);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_has_its_name_operations_and_evidence),
        cmocka_unit_test(its_waits_are_listed_as_modelled_exactly),
        cmocka_unit_test(a_mutex_alone_is_no_such_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
