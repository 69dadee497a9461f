/* Which of the locks of a data structure are modelled each on its own. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "modelgen/lower/lock_instances.h"
#include "tests/unit/model_builder.h"

enum { LOCKS = 20 };

/* How many of a class of locks are, which are waited for so long; all else is a life of 1000. */
static int count_chosen(const double *waits, int n, bool guarded) {
    struct sync_object *objects = memory_alloc((size_t)n, sizeof *objects);
    for (int o = 0; o < n; o++)
        objects[o] = (struct sync_object){.kind = ON_MUTEX, .wait_ns = waits[o]};
    struct section section = {.mutex = 0, .n_waits = guarded};
    struct sections sections = {
        .n_objects = (size_t)n, .objects = objects, .n_sections = 1, .sections = &section};
    struct model *model = build_model(1);
    bool *chosen = lock_instances_find(&sections, 1000, model);
    int found = 0;
    for (int o = 0; o < n; o++)
        found += chosen[o];
    free(chosen);
    free(objects);
    model_free(model);
    return found;
}

static void the_few_that_are_waited_for_are(void **state) {
    (void)state;
    assert_int_equal(count_chosen((double[]){0, 95, 3, 2}, 4, false), 1);
    assert_int_equal(count_chosen((double[]){50, 0, 45, 5}, 4, false), 2);
}

static void none_of_many_equal_ones_is(void **state) {
    (void)state;
    double waits[LOCKS];
    for (int i = 0; i < LOCKS; i++)
        waits[i] = 10;
    assert_int_equal(count_chosen(waits, LOCKS, false), 0);
}

static void none_is_where_waiting_is_little(void **state) {
    (void)state;
    assert_int_equal(count_chosen((double[]){0, 5}, 2, false), 0);
}

static void none_is_that_conditions_are_waited_on_with(void **state) {
    (void)state;
    assert_int_equal(count_chosen((double[]){0, 95, 3, 2}, 4, true), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_few_that_are_waited_for_are),
        cmocka_unit_test(none_of_many_equal_ones_is),
        cmocka_unit_test(none_is_where_waiting_is_little),
        cmocka_unit_test(none_is_that_conditions_are_waited_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
