/* What two recordings with different numbers of threads tell of a pool's rule. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modelgen/scaling/other_run.h"
#include "tests/unit/model_builder.h"

static const struct pool_seen four = {4, 8e9};

static void the_same_in_all_is_a_total(void **state) {
    (void)state;
    assert_int_equal(other_run_rule(four, (struct pool_seen){1, 7.5e9}), PARTITION_FIXED);
    assert_int_equal(other_run_rule(four, (struct pool_seen){2, 9e9}), PARTITION_FIXED);
}

static void the_same_for_each_is_their_own(void **state) {
    (void)state;
    assert_int_equal(other_run_rule(four, (struct pool_seen){1, 2.1e9}), PARTITION_PERTHREAD);
    assert_int_equal(other_run_rule(four, (struct pool_seen){8, 15e9}), PARTITION_PERTHREAD);
}

static void what_is_neither_is_unknown(void **state) {
    (void)state;
    assert_int_equal(other_run_rule(four, (struct pool_seen){1, 4e9}), PARTITION_UNKNOWN);
    assert_int_equal(other_run_rule(four, (struct pool_seen){2, 20e9}), PARTITION_UNKNOWN);
}

static void runs_that_can_tell_nothing_tell_nothing(void **state) {
    (void)state;
    assert_int_equal(other_run_rule(four, (struct pool_seen){4, 8e9}), PARTITION_UNKNOWN);
    assert_int_equal(other_run_rule(four, (struct pool_seen){2, 0}), PARTITION_UNKNOWN);
    /* 4 or 5 threads: a total and each thread's own are too near to be told apart */
    assert_int_equal(other_run_rule(four, (struct pool_seen){5, 9e9}), PARTITION_UNKNOWN);
}

static void a_guess_is_refuted_by_other_work(void **state) {
    (void)state;
    struct pool pool = {
        .scales = true, .profiled_threads = 4, .partition = PARTITION_SHARED, .confidence = 0.9};
    const struct pool_seen two = {2, 8e9};
    assert_true(other_run_refutes(&pool, two, 4e9));
    assert_false(other_run_refutes(&pool, two, 7.5e9)); /* as it computes there */
    assert_false(other_run_refutes(&pool, two, NAN));   /* it does not tell */
    assert_false(other_run_refutes(&pool, (struct pool_seen){4, 8e9}, 4e9));
    pool.confidence = 1; /* the source's word, or the user's */
    assert_false(other_run_refutes(&pool, two, 4e9));
    pool.confidence = 0.9;
    pool.one_thread = "a branch";
    assert_true(other_run_refutes(&pool, two, 4e9));
    assert_false(other_run_refutes(&pool, (struct pool_seen){1, 8e9}, 4e9));
    pool.partition = PARTITION_UNKNOWN; /* nothing to refute */
    assert_false(other_run_refutes(&pool, two, 4e9));
}

static void a_refuted_guess_that_nothing_replaces_is_unknown(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int index = build_pool(model, 4, true);
    struct pool *pool = &model->pools[index];
    pool->profiled_cpu_ns = four.cpu_ns;
    pool->partition = PARTITION_SHARED;
    pool->confidence = 0.9;
    other_run_tells(model, index, (struct pool_seen){2, 20e9});
    assert_int_equal(pool->partition, PARTITION_UNKNOWN);
    assert_non_null(strstr(pool->rule, "neither a total nor each thread's own"));
    assert_int_equal(model->n_notes, 1);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_in_all_is_a_total),
        cmocka_unit_test(the_same_for_each_is_their_own),
        cmocka_unit_test(what_is_neither_is_unknown),
        cmocka_unit_test(runs_that_can_tell_nothing_tell_nothing),
        cmocka_unit_test(a_guess_is_refuted_by_other_work),
        cmocka_unit_test(a_refuted_guess_that_nothing_replaces_is_unknown),
    };
    return cmocka_run_group_tests_name("other run", tests, NULL, NULL);
}
