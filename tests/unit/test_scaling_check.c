/* modelgen/scaling/scaling_check: each kind of damage to the pools' rules is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_builder.h"
#include "modelgen/scaling/scaling_check.h"

/* A pool that splits a total among its threads. */
struct run {
    struct model *model;
    struct partition_evidence evidence;
};

static struct run make_run(void) {
    struct run run = {.model = build_model(1), .evidence = {.cpu_ns = 100, .total = 8}};
    build_pool(run.model, 4, true);
    struct pool *pool = &run.model->pools[0];
    pool->partition = PARTITION_FIXED;
    pool->confidence = 0.9;
    build_next(run.model, 0, constant(100), NODE_END, MODEL_NONE);
    run.model->nodes[0].edges[0].cpu_scaling = (struct scaling){.share = 1, .pool = 0};
    return run;
}

/* The run with one field as it should not be. */
#define ASSERT_FOUND(with, field, value)                                                           \
    do {                                                                                           \
        struct run run = make_run();                                                               \
        struct error error = {0};                                                                  \
        run.field = value;                                                                         \
        assert_int_equal(scaling_check(run.model, &run.evidence, &error), -1);                     \
        assert_non_null(strstr(error.text, with));                                                 \
        model_free(run.model);                                                                     \
    } while (0)

static void a_sound_rule_passes(void **state) {
    (void)state;
    struct run run = make_run();
    assert_int_equal(scaling_check(run.model, &run.evidence, NULL), 0);
    run.model->pools[0].scales = false;
    run.model->pools[0].partition = PARTITION_NONE;
    assert_int_equal(scaling_check(run.model, &run.evidence, NULL), 0);
    model_free(run.model);
}

static void damage_to_a_rule_is_found(void **state) {
    (void)state;
    ASSERT_FOUND("pool 0 (pool-0): has an unknown rule", model->pools[0].partition, 99);
    ASSERT_FOUND("has no rule", model->pools[0].partition, PARTITION_NONE);
    ASSERT_FOUND("does not follow --threads", model->pools[0].scales, false);
    ASSERT_FOUND("not between 0 and 1", model->pools[0].confidence, 1.1);
    ASSERT_FOUND("not between 0 and 1", model->pools[0].confidence, NAN);
    struct run run = make_run();
    struct error error = {0};
    free(run.model->pools[0].rule);
    run.model->pools[0].rule = NULL;
    assert_int_equal(scaling_check(run.model, &run.evidence, &error), -1);
    assert_non_null(strstr(error.text, "does not say its rule"));
    model_free(run.model);
}

static void damage_to_the_evidence_is_found(void **state) {
    (void)state;
    ASSERT_FOUND("no sound evidence", evidence.cpu_ns, -1);
    ASSERT_FOUND("no sound evidence", evidence.undecided_ns, 200);
    ASSERT_FOUND("no sound evidence", evidence.most_undecided_ns, 200);
    ASSERT_FOUND("no sound evidence", evidence.hidden_share, 2);
    ASSERT_FOUND("no sound evidence", evidence.total, -1);
}

static void damage_to_a_share_is_found(void **state) {
    (void)state;
    ASSERT_FOUND("node 0 (start-0)", model->nodes[0].edges[0].cpu_scaling.share, 2);
    ASSERT_FOUND("no sound share", model->nodes[0].edges[0].cpu_scaling.growth, 0.5);
    ASSERT_FOUND("no sound share", model->nodes[0].edges[0].cpu_scaling.pool, 1);
    ASSERT_FOUND("no sound share", model->nodes[0].edges[0].cpu_scaling.pool, MODEL_NONE);
    ASSERT_FOUND("no sound share", model->nodes[0].edges[0].cpu_scaling.rest, REST_LAST);
    ASSERT_FOUND("no sound share", model->nodes[0].edges[0].runs_scaling.share, -1);
    ASSERT_FOUND("no sound share", model->nodes[0].count_scaling.growth, NAN);
    ASSERT_FOUND("no sound share", model->nodes[0].stays_scaling.share, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_rule_passes),
        cmocka_unit_test(damage_to_a_rule_is_found),
        cmocka_unit_test(damage_to_the_evidence_is_found),
        cmocka_unit_test(damage_to_a_share_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
