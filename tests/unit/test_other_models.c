/* What another recording, with another number of threads, would tell or does: the advice to make
 * one, and figures that only it has. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/prediction/another_recording.h"
#include "cli/prediction/other_models.h"
#include "tests/unit/model_builder.h"

#define MS 1e6

/* Pools of which each thread computes for 1 ms, recorded with so many threads; nobody knows how
 * that follows their number. */
static struct model *make(size_t pools, int threads) {
    struct model *model = build_model(2);
    for (size_t p = 0; p < pools; p++) {
        int pool = build_pool(model, threads, true);
        build_next(model, model->pools[pool].entry, constant(MS), NODE_END, MODEL_NONE);
        model->pools[pool].partition = PARTITION_UNKNOWN;
    }
    model_find_pools(model);
    return model;
}

/* ---- advice ---- */

/* `part` NULL: there is none. Frees the model. */
static void assert_advice(struct model *model, const char *part) {
    char *advice = another_recording_advice(model);
    if (part && (!advice || !strstr(advice, part)))
        fail_msg("'%s' is not in: %s", part, advice ? advice : "none");
    if (!part && advice)
        fail_msg("%s", advice);
    free(advice);
    model_free(model);
}

static void a_number_far_from_the_recorded_one_tells_rules(void **state) {
    (void)state;
    assert_advice(make(1, 8), "threads=4`: that tells 1 of 1 unknowns");
    assert_advice(make(1, 4), "threads=2`: that tells 1 of 1 unknowns");
    assert_advice(make(1, 2), "threads=4`: that tells 1 of 1 unknowns");
}

static void one_thread_is_recorded_where_it_goes_another_way(void **state) {
    (void)state;
    struct model *both = make(2, 4);
    both->pools[1].one_thread = memory_strdup("a branch");
    both->pools[1].partition = PARTITION_SHARED;
    assert_advice(both, "threads=1,2`: that tells 2 of 2 unknowns");
    struct model *one = make(1, 4);
    one->pools[0].one_thread = memory_strdup("a branch");
    one->pools[0].partition = PARTITION_SHARED;
    assert_advice(one, "threads=1`: that tells 1 of 1 unknowns");
}

static void what_it_does_not_tell_is_counted(void **state) {
    (void)state;
    struct model *given = make(2, 4);
    given->pools[1].given_ns = 1e9;
    assert_advice(given, "that tells 1 of 2 unknowns");
    struct model *nothing = make(1, 4);
    nothing->pools[0].given_ns = 1e9;
    assert_advice(nothing, NULL);
    struct model *known = make(1, 4);
    known->pools[0].partition = PARTITION_SHARED;
    assert_advice(known, NULL);
}

/* ---- figures ---- */

/* Of so many threads, by the model of 4 and that of `recorded`. */
static struct prediction predict(int threads, int recorded, struct model *models[2]) {
    static struct thread_choice choice;
    choice = (struct thread_choice){.all = threads, .label = "some"};
    const struct sim_config config = {.seed = 1};
    models[0] = make(1, 4);
    models[1] = make(1, recorded);
    struct other_model other = {models[1], false};
    struct other_models others = {&other, 1, 1};
    struct prediction prediction;
    struct error error;
    if (other_models_predict(models[0], &others, &choice, 2, &config, &prediction, &error) < 0)
        fail_msg("%s", error.text);
    return prediction;
}

static void release(struct prediction *prediction, struct model *models[2]) {
    prediction_free(prediction);
    model_free(models[0]);
    model_free(models[1]);
}

static void a_number_that_was_recorded_has_its_own_figures(void **state) {
    (void)state;
    struct model *models[2];
    struct prediction prediction = predict(2, 2, models);
    assert_null(prediction.no_figures);
    assert_ptr_equal(prediction.model, models[1]);
    assert_int_equal((int)prediction.result.run_ns.mean, (int)MS);
    assert_true(prediction_uncertainty(&prediction).threads == 0); /* as recorded */
    release(&prediction, models);
}

static void other_numbers_have_none(void **state) {
    (void)state;
    struct model *models[2];
    struct prediction prediction = predict(8, 2, models);
    assert_non_null(prediction.no_figures);
    assert_ptr_equal(prediction.model, models[0]);
    release(&prediction, models);
}

static void the_model_comes_first(void **state) {
    (void)state;
    struct model *models[2];
    struct prediction prediction = predict(4, 4, models);
    assert_null(prediction.no_figures);
    assert_ptr_equal(prediction.model, models[0]);
    release(&prediction, models);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_far_from_the_recorded_one_tells_rules),
        cmocka_unit_test(one_thread_is_recorded_where_it_goes_another_way),
        cmocka_unit_test(what_it_does_not_tell_is_counted),
        cmocka_unit_test(a_number_that_was_recorded_has_its_own_figures),
        cmocka_unit_test(other_numbers_have_none),
        cmocka_unit_test(the_model_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
