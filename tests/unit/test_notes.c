/* Lines for who reads a model. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/notes.h"
#include "tests/unit/model_builder.h"

static void a_line_is_there_once(void **state) {
    (void)state;
    struct model *model = build_model(2);
    notes_add(model, "%d threads", 3);
    notes_add(model, "%d threads", 3);
    notes_add(model, "%d threads", 4);
    assert_int_equal(model->n_notes, 2);
    assert_string_equal(model->notes[0], "3 threads");
    assert_string_equal(model->notes[1], "4 threads");
    model_free(model);
}

static void what_ran_elsewhere_is_a_list_of_its_own(void **state) {
    (void)state;
    struct model *model = build_model(2);
    notes_add(model, "the same");
    notes_add_outside(model, "the same");
    notes_add_outside(model, "the same");
    assert_int_equal(model->n_notes, 1);
    assert_int_equal(model->n_outside, 1);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_there_once),
        cmocka_unit_test(what_ran_elsewhere_is_a_list_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
