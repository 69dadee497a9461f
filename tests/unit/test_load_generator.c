/* load/generator: what is sent when, and what counts, with a network and a clock of our own. The
 * clock moves only while the generator waits, so that all times are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "load/generator.h"

enum { SLOTS = 64 };
#define MS 1000000UL
#define S  1000000000UL

/* A server that serves one request after the other, in the order in which they came. */
struct server {
    uint64_t now_ns, free_ns; /* free: what has come is served by then */
    uint64_t service_ns;
    uint64_t stall_from_ns, stall_to_ns; /* nothing is begun then */
    uint64_t down_from_ns;               /* from then on, connections are refused; 0: never */
    int closes_after;                    /* answers on a connection; 0: never */
    bool closes_early;                   /* in the middle of the reply */
    int most_open, open;
    struct {
        bool is_open, has_request;
        uint64_t due_ns;
        int answers;
    } slots[SLOTS];
};

static uint64_t now_ns(void *context) {
    return ((struct server *)context)->now_ns;
}

static bool is_down(const struct server *server) {
    return server->down_from_ns && server->now_ns >= server->down_from_ns;
}

static int open_slot(void *context, int slot) {
    struct server *server = context;
    assert_in_range(slot, 0, SLOTS - 1);
    assert_false(server->slots[slot].is_open);
    if (is_down(server))
        return -ECONNREFUSED;
    memset(&server->slots[slot], 0, sizeof server->slots[slot]);
    server->slots[slot].is_open = true;
    if (++server->open > server->most_open)
        server->most_open = server->open;
    return 0;
}

static void close_slot(void *context, int slot) {
    struct server *server = context;
    assert_true(server->slots[slot].is_open);
    server->slots[slot].is_open = server->slots[slot].has_request = false;
    server->open--;
}

static ssize_t send_bytes(void *context, int slot, const char *bytes, size_t n) {
    struct server *server = context;
    (void)bytes;
    assert_true(server->slots[slot].is_open);
    assert_false(server->slots[slot].has_request);
    uint64_t begin = server->free_ns > server->now_ns ? server->free_ns : server->now_ns;
    if (begin >= server->stall_from_ns && begin < server->stall_to_ns)
        begin = server->stall_to_ns;
    server->slots[slot].has_request = true;
    bool is_closed = server->closes_after && server->slots[slot].answers >= server->closes_after;
    server->slots[slot].due_ns = is_closed ? server->now_ns : begin + server->service_ns;
    if (!is_closed)
        server->free_ns = begin + server->service_ns;
    return (ssize_t)n;
}

static ssize_t receive_bytes(void *context, int slot, char *bytes, size_t n) {
    struct server *server = context;
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_true(server->slots[slot].is_open);
    if (!server->slots[slot].has_request || server->slots[slot].due_ns > server->now_ns)
        return -EAGAIN;
    if (server->closes_after && server->slots[slot].answers >= server->closes_after)
        return 0;
    if (server->closes_early && server->slots[slot].answers > 0)
        return 0;
    if (!server->closes_early)
        server->slots[slot].has_request = false;
    server->slots[slot].answers++;
    assert_true(n >= sizeof reply);
    size_t length = sizeof reply - 1 - server->closes_early;
    memcpy(bytes, reply, length);
    return (ssize_t)length;
}

static int wait_for_events(void *context, uint64_t until_ns, struct transport_event *events,
                           int most) {
    struct server *server = context;
    assert_true(most > 0);
    int first = -1;
    for (int i = 0; i < SLOTS; i++)
        if (server->slots[i].has_request &&
            (first < 0 || server->slots[i].due_ns < server->slots[first].due_ns))
            first = i;
    bool comes = first >= 0 && server->slots[first].due_ns <= until_ns;
    uint64_t next_ns = comes ? server->slots[first].due_ns : until_ns;
    if (next_ns > server->now_ns)
        server->now_ns = next_ns;
    if (comes)
        events[0] = (struct transport_event){.slot = first, .readable = true};
    return comes;
}

/* What a test asks for, and what came of it. */
struct run {
    struct server server;
    struct schedule_options schedule;
    struct generator_options options;
    struct load_result result;
    struct error error;
    int status;
};

static void run(struct run *run) {
    struct generator_options *options = &run->options;
    options->connections = options->connections ? options->connections : SLOTS;
    options->max_in_flight = options->max_in_flight ? options->max_in_flight : 10000;
    options->timeout_ns = options->timeout_ns ? options->timeout_ns : 1000 * S;
    run->server.now_ns = run->server.now_ns ? run->server.now_ns : 77;
    struct target target;
    target_parse("http://127.0.0.1:80/", &target, NULL);
    struct load_requests requests;
    struct request_options texts = {.keep_alive = true};
    load_requests_init(&requests, &target, &texts, NULL);
    struct schedule *schedule = schedule_new(&run->schedule, NULL);
    struct transport transport = {&run->server,  now_ns,     open_slot,      send_bytes,
                                  receive_bytes, close_slot, wait_for_events};
    run->status =
        generator_run(options, schedule, &requests, &transport, &run->result, &run->error);
    assert_int_equal(run->server.open, 0);
    schedule_free(schedule);
    load_requests_free(&requests);
}

static bool near(double value, double expected, double share) {
    return fabs(value - expected) <= share * expected;
}

/* A stall of one second, while 100 requests a second are due over one connection. */
static void intended_times_do_not_slip_when_the_server_stalls(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS, .stall_from_ns = 3 * S, .stall_to_ns = 4 * S},
                    .schedule = {.arrivals = LOAD_CONSTANT, .rate_hz = 100},
                    .options = {.requests = 1000, .connections = 1, .keep_alive = true}};
    run(&r);
    assert_int_equal(r.status, 0);
    uint64_t begin, done = 77, sum = 0, most = 0;
    for (uint64_t i = 1; i <= 1000; i++) {
        uint64_t intended = 77 + i * 10 * MS;
        begin = done > intended ? done : intended;
        if (begin >= 3 * S && begin < 4 * S)
            begin = 4 * S;
        done = begin + MS;
        sum += done - intended;
        most = done - intended > most ? done - intended : most;
    }
    assert_int_equal(latency_count(r.result.response), 1000);
    assert_true(near(latency_mean_ns(r.result.response), (double)sum / 1000, 1e-6));
    assert_int_equal(latency_max_ns(r.result.response), most);
    assert_true(most > 900 * MS);
    assert_true(latency_quantile_ns(r.result.response, 0.96) > 400 * MS);
    assert_true(latency_quantile_ns(r.result.service, 0.99) <= 1.001 * MS);
    assert_int_equal(latency_max_ns(r.result.lateness), 0);
    load_result_free(&r.result);
}

/* M/D/1 at 0.8: waits of rho / 2 (1 - rho) services (Pollaczek and Khinchine). */
static void random_arrivals_wait_as_queueing_theory_says(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS},
                    .schedule = {.arrivals = LOAD_POISSON, .rate_hz = 800, .seed = 3},
                    .options = {.requests = 400000, .warm_up_ns = S, .keep_alive = true}};
    run(&r);
    assert_true(near(latency_mean_ns(r.result.response), 3.0 * MS, 0.03));
    assert_true(near(r.result.throughput_hz, 800, 0.01));
    assert_true(fabs(latency_mean_ns(r.result.response) - 3.0 * MS) <
                3 * r.result.response_half_width_ns);
    load_result_free(&r.result);
}

static void beyond_saturation_the_throughput_is_the_servers(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = 10 * MS},
                    .schedule = {.arrivals = LOAD_POISSON, .rate_hz = 200, .seed = 3},
                    .options = {.duration_ns = 10 * S, .keep_alive = true}};
    run(&r);
    assert_true(near(r.result.throughput_hz, 100, 0.01));
    assert_true(r.result.seconds == 10);
    assert_true(near((double)latency_count(r.result.response), 2000, 0.1)); /* all that were due */
    assert_true(near(latency_mean_ns(r.result.response), 5.0 * S, 0.2));    /* 0 to 10 s */
    load_result_free(&r.result);
}

static void clients_wait_for_each_other(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS},
                    .schedule = {.clients = 10},
                    .options = {.duration_ns = S, .warm_up_ns = S, .keep_alive = true}};
    run(&r);
    assert_true(near(r.result.throughput_hz, 1000, 0.002));
    assert_true(latency_mean_ns(r.result.response) == 10.0 * MS);
    assert_int_equal(r.result.connections, 10);
    load_result_free(&r.result);
}

static void a_number_of_requests_is_kept_with_clients_too(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS},
                    .schedule = {.clients = 7},
                    .options = {.requests = 100, .keep_alive = true}};
    run(&r);
    assert_int_equal(latency_count(r.result.response), 100);
    assert_true(near(r.result.seconds, 0.1, 1e-6) && near(r.result.throughput_hz, 1000, 1e-6));
    load_result_free(&r.result);
}

static void only_what_is_due_after_the_warm_up_counts(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS, .stall_from_ns = 1, .stall_to_ns = 2 * S},
                    .schedule = {.arrivals = LOAD_CONSTANT, .rate_hz = 100},
                    .options = {.warm_up_ns = 5 * S + 1, .duration_ns = 5 * S, .keep_alive = true}};
    run(&r);
    assert_int_equal(latency_count(r.result.response), 500);
    assert_int_equal(latency_max_ns(r.result.response), MS);
    assert_int_equal(latency_count(r.result.lateness), 500);
    load_result_free(&r.result);
}

static void what_takes_too_long_has_failed_and_holds_nothing_up(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS, .stall_from_ns = 5 * S, .stall_to_ns = 900 * S},
                    .schedule = {.arrivals = LOAD_CONSTANT, .rate_hz = 100},
                    .options = {.requests = 1000, .timeout_ns = 2 * S, .keep_alive = true}};
    run(&r);
    assert_int_equal(r.status, 0);
    uint64_t answers = latency_count(r.result.response);
    assert_true(near((double)answers, 500, 0.01));
    assert_int_equal(r.result.failures[LOAD_TIMEOUT], 1000 - answers);
    assert_true(r.server.now_ns <= 12 * S + 100 * MS);
    load_result_free(&r.result);
}

static void no_more_are_in_flight_than_permitted(void **state) {
    (void)state;
    struct run r = {
        .server = {.service_ns = 10 * MS},
        .schedule = {.arrivals = LOAD_CONSTANT, .rate_hz = 1000},
        .options = {.requests = 1000, .max_in_flight = 20, .connections = 5, .keep_alive = true}};
    run(&r);
    uint64_t answers = latency_count(r.result.response);
    assert_int_equal(answers + r.result.failures[LOAD_NOT_SENT], 1000);
    assert_true(near((double)answers, 120, 0.02)); /* 100 in the second, 20 behind it */
    assert_int_equal(latency_max_ns(r.result.response) / (10 * MS), 20);
    assert_int_equal(r.server.most_open, 5);
    load_result_free(&r.result);
}

static void without_keep_alive_each_request_has_a_connection(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS},
                    .schedule = {.arrivals = LOAD_CONSTANT, .rate_hz = 100},
                    .options = {.requests = 50}};
    run(&r);
    assert_int_equal(r.result.connections, 50);
    assert_int_equal(r.server.most_open, 1);
    load_result_free(&r.result);
}

static void a_request_on_a_connection_that_was_closed_meanwhile_is_sent_again(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS, .closes_after = 4},
                    .schedule = {.arrivals = LOAD_CONSTANT, .rate_hz = 100},
                    .options = {.requests = 100, .keep_alive = true}};
    run(&r);
    assert_int_equal(latency_count(r.result.response), 100);
    assert_int_equal(load_failed(&r.result), 0);
    assert_int_equal(r.result.reconnected, 24);
    assert_int_equal(r.result.connections, 25);
    load_result_free(&r.result);
}

/* All kept connections are closed: what is sent again does not go to another one of them. */
static void what_is_sent_again_has_a_new_connection(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS, .closes_after = 1},
                    .schedule = {.clients = 5, .think_ns = 100.0 * MS},
                    .options = {.requests = 100, .keep_alive = true}};
    run(&r);
    assert_int_equal(latency_count(r.result.response), 100);
    assert_int_equal(load_failed(&r.result), 0);
    assert_true(r.result.reconnected > 50 && r.result.reconnected < 100);
    load_result_free(&r.result);
}

static void a_reply_that_is_cut_off_has_failed(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS, .closes_early = true},
                    .schedule = {.arrivals = LOAD_CONSTANT, .rate_hz = 100},
                    .options = {.requests = 10, .keep_alive = true}};
    run(&r);
    assert_int_equal(r.status, 0);
    assert_int_equal(r.result.failures[LOAD_CLOSED], 10);
    load_result_free(&r.result);
}

static void no_server_is_an_error_at_once(void **state) {
    (void)state;
    struct run r = {.server = {.down_from_ns = 1},
                    .schedule = {.clients = 5},
                    .options = {.requests = 10, .keep_alive = true}};
    run(&r);
    assert_int_equal(r.status, -1);
    assert_non_null(strstr(r.error.text, "cannot connect"));
    load_result_free(&r.result);
}

static void a_server_that_goes_ends_the_run(void **state) {
    (void)state;
    struct run r = {.server = {.service_ns = MS, .down_from_ns = 2 * S},
                    .schedule = {.clients = 5},
                    .options = {.duration_ns = 1000 * S}};
    run(&r);
    assert_int_equal(r.status, 0);
    assert_true(r.result.server_gone);
    assert_true(r.server.now_ns < 4 * S);
    assert_true(latency_count(r.result.response) > 1900);
    assert_true(r.result.failures[LOAD_NO_CONNECTION] < 600); /* clients do not try without pause */
    load_result_free(&r.result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intended_times_do_not_slip_when_the_server_stalls),
        cmocka_unit_test(random_arrivals_wait_as_queueing_theory_says),
        cmocka_unit_test(beyond_saturation_the_throughput_is_the_servers),
        cmocka_unit_test(clients_wait_for_each_other),
        cmocka_unit_test(a_number_of_requests_is_kept_with_clients_too),
        cmocka_unit_test(only_what_is_due_after_the_warm_up_counts),
        cmocka_unit_test(what_takes_too_long_has_failed_and_holds_nothing_up),
        cmocka_unit_test(no_more_are_in_flight_than_permitted),
        cmocka_unit_test(without_keep_alive_each_request_has_a_connection),
        cmocka_unit_test(a_request_on_a_connection_that_was_closed_meanwhile_is_sent_again),
        cmocka_unit_test(what_is_sent_again_has_a_new_connection),
        cmocka_unit_test(a_reply_that_is_cut_off_has_failed),
        cmocka_unit_test(no_server_is_an_error_at_once),
        cmocka_unit_test(a_server_that_goes_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
