/* What of a node or an edge is a share of what its pool does together. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/graph/model_builder.h"
#include "tests/unit/model_builder.h"

static void a_share_does_not_grow(void **state) {
    (void)state;
    struct scaling scaling = {.growth = 0.5, .pool = MODEL_NONE};
    model_builder_make_share(&scaling, 3, 1);
    assert_true(scaling.share == 1 && scaling.growth == 0 && scaling.less == 1);
    assert_int_equal(scaling.pool, 3);
}

static void what_is_a_threads_own_follows_no_pool(void **state) {
    (void)state;
    struct scaling scaling = {.share = 1, .less = 1, .pool = 3};
    model_builder_make_own(&scaling);
    assert_true(scaling.share == 0 && scaling.less == 0);
    assert_int_equal(scaling.pool, MODEL_NONE);
}

/* Who got what of a total is still known. */
static void but_for_the_rest_of_a_total(void **state) {
    (void)state;
    struct scaling scaling = {.share = 1, .rest = REST_LAST, .total = 10, .pool = 3};
    model_builder_make_own(&scaling);
    assert_int_equal(scaling.pool, 3);
}

static void what_grows_with_the_threads_goes_on_growing(void **state) {
    (void)state;
    struct scaling scaling = {.share = 0.5, .growth = 0.5, .pool = 3};
    model_builder_make_no_share(&scaling);
    assert_true(scaling.share == 0 && scaling.growth == 0.5);
    assert_int_equal(scaling.pool, 3);
    scaling.growth = 0;
    model_builder_make_no_share(&scaling);
    assert_int_equal(scaling.pool, MODEL_NONE);
}

static void evened_out_rounds_are_a_threads_part_of_the_total(void **state) {
    (void)state;
    double *values = memory_alloc(2, sizeof *values);
    struct dist stays = {.kind = DIST_EMPIRICAL, .n_values = 2, .values = values};
    model_builder_even_out(&stays, &(struct scaling){.total = 15, .less = 1}, 2);
    assert_int_equal(stays.kind, DIST_CONSTANT);
    assert_true(stays.mean == 6.5);
    assert_null(stays.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_does_not_grow),
        cmocka_unit_test(what_is_a_threads_own_follows_no_pool),
        cmocka_unit_test(but_for_the_rest_of_a_total),
        cmocka_unit_test(what_grows_with_the_threads_goes_on_growing),
        cmocka_unit_test(evened_out_rounds_are_a_threads_part_of_the_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
