/* Clients who are far away: links of a network against closed forms. Each carries one thing after
 * the other, so that a link is a queueing system of its own (M/D/1 where what is sent has one
 * size). */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/prediction/network.h"
#include "tests/unit/simulation.h"
#include "tests/unit/stations.h"

#define US   1e3 /* in nanoseconds */
#define MS   1e6
#define SLOW 1e6 /* bytes per second: a thousand take a millisecond */

enum { QUEUE, THERE, BACK };

/* Of what has so many bytes on the wire; the others are headers of packets. */
static double payload(double bytes) {
    return bytes - 52 * ceil(bytes / 1500);
}

static void follow(struct model *model, struct network network) {
    struct error error = {0};
    if (network_apply(&network, model, &error) < 0)
        fail_msg("%s", error.text);
}

/* One thread serves for `service_ns`; requests come at `rate_hz`, at random. The bytes are those on
 * the wire. */
static struct model *server(double rate_hz, double service_ns, double request, double reply) {
    const struct station station = {STATION_CONSTANT, 1, rate_hz * service_ns * 1e-9, service_ns};
    struct model *model = station_build(&station);
    model->objects[QUEUE].interarrival_ns = exponential(1e9 / rate_hz);
    model->objects[QUEUE].request_bytes = constant(payload(request));
    model->objects[QUEUE].reply_bytes = constant(payload(reply));
    return model;
}

/* Pollaczek and Khinchine. */
static double md1_wait_ns(double rate_hz, double service_ns) {
    double load = rate_hz * service_ns * 1e-9;
    return load * service_ns / (2 * (1 - load));
}

static void assert_response(struct model *model, struct sim_config config, double ns) {
    struct sim_result result = simulate(model, config);
    assert_int_equal(result.regime, REGIME_STEADY);
    if (!(fabs(result.response_ns.mean - ns) <= 2 * result.response_ns.half_width + 1))
        fail_msg("the mean is %g (%g), not %g", result.response_ns.mean,
                 result.response_ns.half_width, ns);
    sim_result_free(&result);
    model_free(model);
}

static void the_way_there_and_back_is_a_part_of_the_response(void **state) {
    (void)state;
    struct model *model = server(500, 1 * MS, 100, 100);
    follow(model, (struct network){.latency_ns = 3 * MS});
    assert_response(model, (struct sim_config){0}, 7 * MS + md1_wait_ns(500, 1 * MS));
}

static void a_connection_goes_to_and_fro_once_more(void **state) {
    (void)state;
    struct model *model = server(500, 1 * MS, 100, 100);
    model->objects[QUEUE].connects = true;
    follow(model, (struct network){.latency_ns = 3 * MS});
    assert_response(model, (struct sim_config){0}, 13 * MS + md1_wait_ns(500, 1 * MS));
}

/* Of two requests, 10 ms apart, the second one's connection is answered only when the first one's
 * reply, 8 ms long, has been sent. */
static void a_connection_waits_for_replies(void **state) {
    (void)state;
    struct model *model = server(100, 1 * US, 100, 8000);
    model->objects[QUEUE].connects = true;
    follow(model, (struct network){.latency_ns = 3 * MS, .bytes_per_s = SLOW});
    struct sim_result result = simulate(
        model,
        (struct sim_config){.arrival_rate_hz = 100, .arrivals = ARRIVALS_CONSTANT, .requests = 2});
    double one_ns = 4 * 3 * MS + 2 * 52 * US + 100 * US + 1 * US + 8 * MS;
    double sent_ns = one_ns - 3 * MS, asked_ns = 10 * MS + 52 * US + 3 * MS;
    assert_close(result.response_ns.mean, one_ns + (sent_ns - asked_ns) / 2, 1e-6);
    sim_result_free(&result);
    model_free(model);
}

/* What comes out of an M/D/1 queue is never closer together than its services: where replies are
 * no longer than requests they do not wait. */
static void what_is_sent_waits_for_what_was_sent_before(void **state) {
    (void)state;
    struct model *model = server(800, 1 * US, 1000, 500);
    follow(model, (struct network){.bytes_per_s = SLOW});
    double sent_ns = 1 * MS + 1 * US + 0.5 * MS;
    assert_response(model, (struct sim_config){0}, sent_ns + md1_wait_ns(800, 1 * MS));
}

static void each_direction_has_a_link_of_its_own(void **state) {
    (void)state;
    struct model *model = server(800, 1 * US, 100, 1000);
    follow(model, (struct network){.bytes_per_s = SLOW, .latency_ns = 2 * MS});
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.objects[BACK].utilisation.mean, 0.8, 0.03);
    assert_close(result.objects[BACK].waits.mean / result.objects[BACK].operations.mean, 0.8, 0.03);
    assert_close(result.objects[THERE].utilisation.mean, 0.08, 0.03);
    double waits_ns = md1_wait_ns(800, 1 * MS);
    assert_close(result.objects[BACK].wait_ns.mean * 0.8, waits_ns, 0.1);
    assert_close(result.response_ns.mean, 5.1 * MS + waits_ns, 0.05);
    sim_result_free(&result);
    model_free(model);
}

/* The interactive response time law (Denning and Buzen 1978): the way is think time of a kind. */
static void a_client_waits_for_the_way_too(void **state) {
    (void)state;
    struct model *model = server(100, 2 * MS, 1000, 1000);
    follow(model, (struct network){.latency_ns = 3 * MS, .bytes_per_s = SLOW});
    struct sim_result result = simulate(model, (struct sim_config){.clients = 1});
    assert_close(result.response_ns.mean, 10 * MS, 1e-3);
    assert_close(result.throughput_hz.mean, 100, 1e-3);
    sim_result_free(&result);
    result = simulate(model, (struct sim_config){.clients = 3});
    assert_close(result.throughput_hz.mean, 300, 1e-2);
    sim_result_free(&result);
    model_free(model);
}

static void a_full_link_is_the_saturation(void **state) {
    (void)state;
    struct model *model = server(100, 1 * MS, 100, 4000);
    struct sim_result result = simulate(model, (struct sim_config){.is_saturated = true});
    assert_close(result.throughput_hz.mean, 1000, 0.01);
    assert_null(network_full_link(model, &result));
    sim_result_free(&result);
    follow(model, (struct network){.latency_ns = 50 * MS, .bytes_per_s = SLOW});
    result = simulate(model, (struct sim_config){.is_saturated = true});
    assert_close(result.throughput_hz.mean, 250, 0.01);
    assert_ptr_equal(network_full_link(model, &result), &model->objects[BACK]);
    sim_result_free(&result);
    model_free(model);
}

static void above_it_the_link_grows(void **state) {
    (void)state;
    struct model *model = server(400, 1 * MS, 100, 4000);
    follow(model, (struct network){.bytes_per_s = SLOW});
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_int_equal(result.regime, REGIME_GROWING);
    assert_int_equal(result.growing, BACK);
    assert_close(result.throughput_hz.mean, 250, 0.02);
    assert_close(result.objects[BACK].growth_hz.mean, 150, 0.25);
    sim_result_free(&result);
    model_free(model);
}

/* The run is over when the last reply has come. */
static void so_many_requests_are_all_answered(void **state) {
    (void)state;
    struct model *model = server(100, 1 * MS, 100, 100);
    follow(model, (struct network){.latency_ns = 5 * MS});
    struct sim_config config = {
        .arrival_rate_hz = 10, .arrivals = ARRIVALS_CONSTANT, .requests = 20};
    struct sim_result result = simulate(model, config);
    assert_true(result.tasks.mean == 20);
    assert_close(result.run_ns.mean, 20 * 100 * MS + 11 * MS, 1e-6);
    assert_close(result.response_ns.mean, 11 * MS, 1e-6);
    sim_result_free(&result);
    model_free(model);
}

static void without_a_network_nothing_is_added(void **state) {
    (void)state;
    struct model *model = server(100, 1 * MS, 100, 100);
    follow(model, (struct network){0});
    assert_int_equal(model->n_objects, 1);
    model_free(model);
}

static void assert_refused(struct model *model, struct network network, const char *why) {
    struct error error = {0};
    assert_int_equal(network_apply(&network, model, &error), -1);
    if (!strstr(error.text, why))
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
}

static void what_cannot_be_is_said(void **state) {
    (void)state;
    struct model *model = server(100, 1 * MS, 100, 100);
    const struct network far = {.latency_ns = 1 * MS}, slow = {.bytes_per_s = SLOW};
    model->objects[QUEUE].reply_bytes = (struct dist){0};
    assert_refused(model, slow, "--network-bandwidth: how many bytes");
    follow(model, far);
    assert_refused(model, far, "a network of its own");
    model->n_objects = 1; /* the links are forgotten, on purpose with their names */
    free(model->objects[THERE].name);
    free(model->objects[BACK].name);
    model->objects[QUEUE].comes_by = model->objects[QUEUE].goes_by = MODEL_NONE;
    model->objects[QUEUE].interarrival_ns = (struct dist){0};
    assert_refused(model, far, "no queue of the model gets its tasks from outside: leave");
    model->notes = memory_resize(model->notes, model->n_notes + 1, sizeof *model->notes);
    model->notes[model->n_notes++] = memory_strdup(MODEL_NO_REQUESTS ": each waits");
    assert_refused(model, far, "from outside, as " MODEL_NO_REQUESTS ": each waits: leave");
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_there_and_back_is_a_part_of_the_response),
        cmocka_unit_test(a_connection_goes_to_and_fro_once_more),
        cmocka_unit_test(a_connection_waits_for_replies),
        cmocka_unit_test(what_is_sent_waits_for_what_was_sent_before),
        cmocka_unit_test(each_direction_has_a_link_of_its_own),
        cmocka_unit_test(a_client_waits_for_the_way_too),
        cmocka_unit_test(a_full_link_is_the_saturation),
        cmocka_unit_test(above_it_the_link_grows),
        cmocka_unit_test(so_many_requests_are_all_answered),
        cmocka_unit_test(without_a_network_nothing_is_added),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
