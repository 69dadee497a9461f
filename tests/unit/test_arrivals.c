/* When a server's requests came: known where a thread waited, else drawn. The tests make a server
 * with one thread that takes each request when it is ready for it, and forget the rest. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/arrivals.h"
#include "tests/unit/trace_builder.h"

enum { LISTENER = 3, CONNECTION = 5, BYTES = 16, REQUESTS = 3000, SERVICE_NS = 100000 };

static double random_unit(uint64_t *state) {
    *state = *state * 6364136223846793005UL + 1442695040888963407UL;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* Requests that come every `mean_ns`, at random or not, and take SERVICE_NS each. `response_ns`
 * gets their mean. */
static struct trace *serve(double mean_ns, bool at_random, double *response_ns) {
    struct trace *trace = builder_new_with_workers(1);
    trace->meta.has_wakes = true;
    uint64_t random = 1;
    double arrival_ns = 1000, free_ns = 1000;
    *response_ns = 0;
    for (int i = 0; i < REQUESTS; i++) {
        arrival_ns += mean_ns * (at_random ? -log(random_unit(&random)) : 1);
        uint64_t asks = (uint64_t)free_ns, start = (uint64_t)fmax(free_ns, arrival_ns);
        builder_record(trace, 1, "accept", asks, start - asks + 1, LISTENER, TRACE_NO_CONTEXT,
                       CONNECTION);
        if (start > asks)
            builder_run(trace, 1, 0, start, start + 1, start + SERVICE_NS, false);
        builder_record(trace, 1, "read", start + 1, 1, CONNECTION, TRACE_NO_CONTEXT, BYTES);
        builder_record(trace, 1, "write", start + SERVICE_NS - 2, 2, CONNECTION, TRACE_NO_CONTEXT,
                       BYTES);
        builder_record(trace, 1, "close", start + SERVICE_NS, 1, CONNECTION, TRACE_NO_CONTEXT, 0);
        free_ns = (double)start + SERVICE_NS + 2;
        *response_ns += ((double)start + SERVICE_NS - arrival_ns) / REQUESTS;
    }
    builder_finish(trace, (uint64_t)free_ns + 1000);
    return trace;
}

struct estimate {
    struct requests requests;
    struct arrivals arrivals;
    double response_ns; /* true one */
};

static struct estimate estimate(double mean_ns, bool at_random) {
    struct estimate estimate;
    struct trace *trace = serve(mean_ns, at_random, &estimate.response_ns);
    estimate.requests = requests_find(trace);
    assert_int_equal(estimate.requests.all.count, REQUESTS);
    estimate.arrivals = arrivals_estimate(trace, &estimate.requests);
    trace_free(trace);
    return estimate;
}

static void end(struct estimate *estimate) {
    requests_free(&estimate->requests);
    arrivals_free(&estimate->arrivals);
}

static void random_arrivals_are_told_though_most_were_not_waited_for(void **state) {
    (void)state;
    struct estimate busy = estimate(SERVICE_NS / 0.8, true);
    assert_true(busy.arrivals.n_waited < REQUESTS / 4);
    assert_true(busy.arrivals.n_waited > REQUESTS / 8);
    assert_true(busy.arrivals.is_random);
    assert_true(fabs(busy.arrivals.rate_hz * SERVICE_NS / 1e9 / 0.8 - 1) < 0.05);
    end(&busy);
}

/* By M/D/1 more than half of it is waiting, of which nothing was recorded. */
static void the_response_time_has_the_wait_that_nobody_saw(void **state) {
    (void)state;
    struct estimate busy = estimate(SERVICE_NS / 0.8, true);
    assert_true(busy.response_ns > 2.5 * SERVICE_NS);
    assert_true(fabs(busy.arrivals.response_ns / busy.response_ns - 1) < 0.05);
    end(&busy);
}

/* As epoll does: it wakes the thread that began to wait last. */
static struct trace *serve_by_two(double mean_ns) {
    struct trace *trace = builder_new_with_workers(2);
    trace->meta.has_wakes = true;
    uint64_t random = 1;
    double arrival_ns = 1000, waits_since[3] = {0, 1000, 1000};
    for (int i = 0; i < REQUESTS; i++) {
        arrival_ns += -mean_ns * log(random_unit(&random));
        int thread = waits_since[2] < arrival_ns && waits_since[2] > waits_since[1] ? 2 : 1;
        if (waits_since[thread] >= arrival_ns)
            thread = 3 - thread;
        uint64_t asks = (uint64_t)waits_since[thread];
        uint64_t start = (uint64_t)fmax(waits_since[thread], arrival_ns);
        builder_record(trace, thread, "accept", asks, start - asks + 1, LISTENER, TRACE_NO_CONTEXT,
                       CONNECTION + thread);
        if (start > asks)
            builder_run(trace, thread, 0, start, start + 1, start + SERVICE_NS, false);
        builder_record(trace, thread, "read", start + 1, 1, (uint64_t)CONNECTION + (uint64_t)thread,
                       TRACE_NO_CONTEXT, BYTES);
        builder_record(trace, thread, "write", start + SERVICE_NS - 2, 2,
                       (uint64_t)CONNECTION + (uint64_t)thread, TRACE_NO_CONTEXT, BYTES);
        builder_record(trace, thread, "close", start + SERVICE_NS, 1,
                       (uint64_t)CONNECTION + (uint64_t)thread, TRACE_NO_CONTEXT, 0);
        waits_since[thread] = (double)start + SERVICE_NS + 2;
    }
    builder_finish(trace, (uint64_t)arrival_ns + 10 * SERVICE_NS);
    return trace;
}

static void which_of_the_waiting_threads_is_woken_tells_nothing(void **state) {
    (void)state;
    struct trace *trace = serve_by_two(SERVICE_NS / 0.4);
    struct requests requests = requests_find(trace);
    struct arrivals arrivals = arrivals_estimate(trace, &requests);
    assert_true(arrivals.n_waited > REQUESTS / 2);
    assert_true(arrivals.is_random);
    arrivals_free(&arrivals);
    requests_free(&requests);
    trace_free(trace);
}

static void even_arrivals_are_not_random(void **state) {
    (void)state;
    struct estimate even = estimate(SERVICE_NS / 0.5, false);
    assert_int_equal(even.arrivals.n_waited, REQUESTS);
    assert_false(even.arrivals.is_random);
    end(&even);
}

static void arrivals_that_were_waited_for_are_known(void **state) {
    (void)state;
    struct estimate even = estimate(SERVICE_NS / 0.5, false);
    assert_true(fabs(even.arrivals.response_ns / even.response_ns - 1) < 0.001);
    for (size_t r = 1; r < REQUESTS; r++)
        assert_true(fabs(even.arrivals.at_ns[r] - even.arrivals.at_ns[r - 1] - SERVICE_NS / 0.5) <
                    2);
    end(&even);
}

static void times_that_are_drawn_are_in_order_and_possible(void **state) {
    (void)state;
    struct estimate busy = estimate(SERVICE_NS / 0.9, true);
    for (size_t r = 0; r < REQUESTS; r++) {
        const struct request *request = &busy.requests.all.items[r];
        assert_true(busy.arrivals.at_ns[r] >= (double)request->from_ns);
        assert_true(busy.arrivals.at_ns[r] <= (double)request->to_ns);
        assert_true(r == 0 || busy.arrivals.at_ns[r] >= busy.arrivals.at_ns[r - 1]);
    }
    end(&busy);
}

/* One draw alone has a mean some percent from that of many. */
static void the_draw_that_is_kept_is_like_the_others(void **state) {
    (void)state;
    struct estimate busy = estimate(SERVICE_NS / 0.98, true);
    double response_ns = 0;
    for (size_t r = 0; r < REQUESTS; r++)
        response_ns +=
            ((double)busy.requests.all.items[r].end_ns - busy.arrivals.at_ns[r]) / REQUESTS;
    assert_true(fabs(response_ns / busy.arrivals.response_ns - 1) < 0.05);
    end(&busy);
}

/* More comes than can be answered: nobody ever waits but for the first one. */
static void of_a_saturated_server_hardly_anything_is_known(void **state) {
    (void)state;
    struct estimate flooded = estimate(0.5 * SERVICE_NS, false);
    assert_true(flooded.arrivals.n_waited <= 1);
    end(&flooded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_arrivals_are_told_though_most_were_not_waited_for),
        cmocka_unit_test(the_response_time_has_the_wait_that_nobody_saw),
        cmocka_unit_test(which_of_the_waiting_threads_is_woken_tells_nothing),
        cmocka_unit_test(even_arrivals_are_not_random),
        cmocka_unit_test(arrivals_that_were_waited_for_are_known),
        cmocka_unit_test(times_that_are_drawn_are_in_order_and_possible),
        cmocka_unit_test(the_draw_that_is_kept_is_like_the_others),
        cmocka_unit_test(of_a_saturated_server_hardly_anything_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
