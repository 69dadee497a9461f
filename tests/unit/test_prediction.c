/* cli/prediction/prediction: how far response times may be from what is predicted. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/prediction/prediction.h"
#include "cli/prediction/uncertainty.h"
#include "tests/unit/model_builder.h"

#define MS       1e6
#define REQUESTS 10

/* One thread answers what comes each `gap_ns`, in so long. */
static struct model *server(double service_ns, double gap_ns) {
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = constant(gap_ns);
    model->objects[queue].arrivals = REQUESTS;
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_node(model, NODE_TASK_END, MODEL_NONE);
    build_edge(model, get, done)->when = OUTCOME_YES;
    model->nodes[get].edges[0].cpu_ns = constant(service_ns);
    build_edge(model, get, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_NO;
    build_edge(model, done, get);
    model_find_pools(model);
    return model;
}

static struct prediction predict(const struct model *model) {
    static const struct thread_choice own = {.label = "as profiled"};
    const struct sim_config config = {.seed = 1};
    struct prediction prediction;
    struct error error;
    if (prediction_make(model, &own, 0, &config, &prediction, &error) < 0 ||
        prediction_find_response_share(&prediction, &config, &error) < 0)
        fail_msg("%s", error.text);
    assert_null(prediction.no_figures);
    return prediction;
}

static double share_of(const struct prediction *prediction) {
    const struct uncertainty parts = prediction_uncertainty(prediction);
    return uncertainty_share(&parts);
}

/* Request i is answered 5 ms later than the one before it, and if all takes longer by a share, by
 * that share of 10 ms later still. */
static void responses_are_less_sure_where_requests_queue(void **state) {
    (void)state;
    struct model *model = server(10 * MS, 5 * MS);
    struct prediction prediction = predict(model);
    double share = share_of(&prediction), last = REQUESTS - 1;
    double mean_ns = prediction.result.response_ns.mean;
    assert_float_equal(mean_ns, (10 + 5 * last / 2) * MS, 1);
    double longer_ns = 10 * share * (1 + last / 2) * MS;
    assert_true(share > 0);
    assert_float_equal(prediction.response_share, longer_ns / mean_ns, 1e-6);
    prediction_free(&prediction);
    model_free(model);
}

static void responses_without_a_queue_are_as_sure_as_all_else(void **state) {
    (void)state;
    struct model *model = server(1 * MS, 50 * MS);
    struct prediction prediction = predict(model);
    assert_float_equal(prediction.response_share, share_of(&prediction), 1e-9);
    prediction_free(&prediction);
    model_free(model);
}

/* A thread that tries again and again to take what nobody gives. */
static void a_run_that_does_not_end_gives_no_figure(void **state) {
    (void)state;
    static const struct thread_choice own = {.label = "as profiled"};
    struct model *model = build_model(1);
    model->measured_run_ns = 1 * MS;
    int tokens = build_object(model, OBJECT_TOKENS, 0), pool = build_pool(model, 1, true);
    int attempt = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, tokens);
    model->nodes[attempt].timeout_ns = 0;
    build_edge(model, attempt, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_YES;
    struct edge *again = build_edge(model, attempt, attempt);
    again->when = OUTCOME_NO;
    again->cpu_ns = constant(0.1 * MS);
    model_find_pools(model);
    struct prediction prediction;
    struct error error;
    const struct sim_config config = {.seed = 1};
    assert_int_equal(prediction_make(model, &own, 0, &config, &prediction, &error), 0);
    assert_non_null(strstr(prediction.no_figures, "the simulated program does not end"));
    prediction_free(&prediction);
    assert_int_equal(prediction_make(model, &own, -1, &config, &prediction, &error), -1);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_are_less_sure_where_requests_queue),
        cmocka_unit_test(responses_without_a_queue_are_as_sure_as_all_else),
        cmocka_unit_test(a_run_that_does_not_end_gives_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
