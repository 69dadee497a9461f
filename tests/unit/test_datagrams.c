/* Requests that come as datagrams: which calls take one, which answer it. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/datagrams.h"
#include "modelgen/events/requests.h"
#include "modelgen/rewrite/requests_as_tasks.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, OTHER };
enum { SOCKET = 3, SECOND = 4, LOOP = 5, BYTES = 16, EACH_NS = 10000, REQUESTS = 4 };

static struct trace *new_trace(int workers) {
    struct trace *trace = builder_new_with_workers(workers);
    trace->meta.has_wakes = true;
    return trace;
}

static struct trace_record *on(struct trace *trace, int thread, const char *api, int descriptor,
                               uint64_t start_ns, uint64_t end_ns, int value) {
    return builder_record(trace, thread, api, start_ns, end_ns - start_ns, (uint64_t)descriptor,
                          builder_context(trace, api, 1, "thread", 2), value);
}

/* Receives at `at`, after a sleep that a datagram ended 50 ns before. */
static void sleep_and_receive(struct trace *trace, int thread, int socket, uint64_t at_ns) {
    on(trace, thread, "recvfrom", socket, at_ns - 4000, at_ns, BYTES);
    builder_run(trace, thread, 0, at_ns - 50, at_ns - 30, at_ns + 2000, false);
}

static void receive(struct trace *trace, int thread, int socket, uint64_t at_ns) {
    on(trace, thread, "recvfrom", socket, at_ns - 10, at_ns, BYTES);
}

static void reply(struct trace *trace, int thread, int socket, uint64_t at_ns) {
    on(trace, thread, "sendto", socket, at_ns, at_ns + 10, BYTES);
}

/* Two workers receive from one socket, in turn; each answers 500 ns later. */
static struct trace *sharing(void) {
    struct trace *trace = new_trace(2);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        int worker = i % 2 ? WORKER : OTHER;
        sleep_and_receive(trace, worker, SOCKET, i * EACH_NS);
        reply(trace, worker, SOCKET, i * EACH_NS + 500);
    }
    return trace;
}

static struct requests requests_of(struct trace *trace) {
    builder_finish(trace, 10 * EACH_NS);
    return requests_find(trace);
}

static void end(struct requests *requests, struct trace *trace) {
    requests_free(requests);
    trace_free(trace);
}

static void a_datagram_is_a_request_until_it_is_answered(void **state) {
    (void)state;
    struct trace *trace = sharing();
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, REQUESTS);
    assert_int_equal(requests.sources.count, 1);
    assert_true(requests.sources.items[0].is_shared);
    assert_true(requests.sources.items[0].datagrams);
    assert_int_equal(requests.all.items[1].from_ns, 2 * EACH_NS - 50); /* it woke the thread */
    assert_int_equal(requests.all.items[1].end_ns, 2 * EACH_NS + 510);
    end(&requests, trace);
}

/* Nobody knows when it came; not at the program's start. */
static void the_first_datagram_came_when_it_could_be_received(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    receive(trace, WORKER, SOCKET, 2 * EACH_NS);
    reply(trace, WORKER, SOCKET, 2 * EACH_NS + 500);
    receive(trace, WORKER, SOCKET, 3 * EACH_NS);
    reply(trace, WORKER, SOCKET, 3 * EACH_NS + 500);
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, 2);
    assert_int_equal(requests.all.items[0].from_ns, requests.all.items[0].to_ns);
    assert_int_equal(requests.all.items[1].from_ns, requests.all.items[0].to_ns);
    end(&requests, trace);
}

static void a_last_wait_is_in_vain(void **state) {
    (void)state;
    struct trace *trace = sharing();
    on(trace, OTHER, "recvfrom", SOCKET, 5 * EACH_NS, 9 * EACH_NS, -1);
    builder_unfinished(trace, OTHER);
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.idle.count, 1);
    assert_true(requests.idle.items[0].is_last);
    assert_int_equal(requests.sources.items[0].idle_ns, 5 * EACH_NS);
    end(&requests, trace);
}

/* One thread with a socket of its own, of two: the kernel deals. */
static void sockets_of_their_own_are_one_queue_that_is_dealt(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    for (uint64_t i = 1; i <= REQUESTS; i++)
        for (int worker = WORKER; worker <= OTHER; worker++) {
            sleep_and_receive(trace, worker, SOCKET + worker, i * EACH_NS);
            reply(trace, worker, SOCKET + worker, i * EACH_NS + 500);
        }
    builder_finish(trace, 10 * EACH_NS);
    struct event_log log = event_log_of(trace);
    struct model model = {0};
    event_log_begin_pass(&log, "requests");
    struct outside_queues queues = requests_as_tasks(&log, &model);
    assert_int_equal(queues.n, 1);
    assert_true(queues.items[0].is_own);
    assert_int_equal(count_shown(&log, WORKER, ROLE_get), REQUESTS);
    assert_int_equal(count_shown(&log, OTHER, ROLE_task_end), REQUESTS);
    for (size_t i = 0; i < model.n_notes; i++)
        free(model.notes[i]);
    free(model.notes);
    outside_queues_free(&queues);
    event_log_free(&log);
    trace_free(trace);
}

/* poll() wakes both, one finds nothing. What comes behind the first was there. */
static void who_is_told_and_finds_nothing_has_no_request(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        uint64_t at = i * EACH_NS;
        for (int worker = WORKER; worker <= OTHER; worker++) {
            on(trace, worker, "epoll_wait", LOOP + worker, at - 4000, at, 1);
            builder_run(trace, worker, 0, at - 50, at - 30, at + 3000, false);
        }
        receive(trace, WORKER, SOCKET, at + 20);
        on(trace, OTHER, "recvfrom", SOCKET, at + 20, at + 30, -1)->flags |= TRACE_FAILED;
        reply(trace, WORKER, SOCKET, at + 100);
        receive(trace, WORKER, SOCKET, at + 220);
        reply(trace, WORKER, SOCKET, at + 300);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, 2 * REQUESTS);
    const struct request *first = &requests.all.items[0], *second = &requests.all.items[1];
    assert_int_equal(first->to_ns, EACH_NS - 50);
    assert_int_equal(second->from_ns, EACH_NS - 50); /* nothing was there when both slept */
    assert_int_equal(second->to_ns, EACH_NS + 210);
    assert_int_equal(requests.idle.count, REQUESTS); /* of the other worker */
    end(&requests, trace);
}

static void who_receives_several_answers_them_in_order(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        sleep_and_receive(trace, WORKER, SOCKET, i * EACH_NS);
        receive(trace, WORKER, SOCKET, i * EACH_NS + 100);
        reply(trace, WORKER, SOCKET, i * EACH_NS + 200);
        reply(trace, WORKER, SOCKET, i * EACH_NS + 300);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, 2 * REQUESTS);
    assert_int_equal(requests.all.items[0].end_ns, EACH_NS + 210);
    assert_int_equal(requests.all.items[1].end_ns, EACH_NS + 310);
    end(&requests, trace);
}

/* Else each answer would be taken for that of the one before. */
static void what_is_not_answered_before_the_next_wait_is_left_out(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    sleep_and_receive(trace, WORKER, SOCKET, EACH_NS);
    for (uint64_t i = 2; i <= REQUESTS; i++) {
        sleep_and_receive(trace, WORKER, SOCKET, i * EACH_NS);
        reply(trace, WORKER, SOCKET, i * EACH_NS + 500);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, REQUESTS - 1);
    assert_int_equal(requests.all.items[0].to_ns, 2 * EACH_NS - 50);
    assert_int_equal(requests.all.items[0].end_ns, 2 * EACH_NS + 510);
    end(&requests, trace);
}

/* As a resolver does that asks others first. */
static void a_thread_may_answer_late(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        sleep_and_receive(trace, WORKER, SOCKET, i * EACH_NS);
        on(trace, WORKER, "poll", 0, i * EACH_NS + 100, i * EACH_NS + 3000, 1);
        reply(trace, WORKER, SOCKET, i * EACH_NS + 4000);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, REQUESTS);
    assert_int_equal(requests.all.items[0].end_ns, EACH_NS + 4010);
    end(&requests, trace);
}

static void others_may_answer_what_one_receives(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        sleep_and_receive(trace, MAIN, SOCKET, i * EACH_NS);
        reply(trace, i % 2 ? WORKER : OTHER, SOCKET, i * EACH_NS + 3000);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, REQUESTS);
    assert_int_equal(requests.all.items[2].take.thread, MAIN);
    assert_int_equal(requests.all.items[2].end.thread, WORKER);
    assert_int_equal(requests.all.items[2].end_ns, 3 * EACH_NS + 3010);
    end(&requests, trace);
}

static void who_asks_first_is_no_server(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        reply(trace, WORKER, SOCKET, i * EACH_NS);
        sleep_and_receive(trace, WORKER, SOCKET, i * EACH_NS + 5000);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, 0);
    assert_null(requests.refused);
    end(&requests, trace);
}

static void a_connection_is_no_socket_for_datagrams(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    on(trace, WORKER, "connect", SOCKET, 10, 20, 0);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        sleep_and_receive(trace, WORKER, SOCKET, i * EACH_NS);
        reply(trace, WORKER, SOCKET, i * EACH_NS + 500);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, 0);
    end(&requests, trace);
}

static void what_the_program_may_have_sent_itself_is_refused(void **state) {
    (void)state;
    struct trace *trace = sharing();
    for (uint64_t i = 1; i <= REQUESTS; i++)
        reply(trace, MAIN, SECOND, i * EACH_NS);
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, 0);
    assert_non_null(strstr(requests.refused, "perhaps to itself"));
    end(&requests, trace);
}

static void without_scheduling_it_is_refused(void **state) {
    (void)state;
    struct trace *trace = sharing();
    trace->meta.has_wakes = false;
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, 0);
    assert_non_null(strstr(requests.refused, "scheduling was not recorded"));
    end(&requests, trace);
}

/* After it was closed another socket has its number. */
static void a_descriptor_may_be_used_again(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    reply(trace, WORKER, SOCKET, 100);
    on(trace, WORKER, "close", SOCKET, 200, 210, 0);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        sleep_and_receive(trace, WORKER, SOCKET, i * EACH_NS);
        reply(trace, WORKER, SOCKET, i * EACH_NS + 500);
    }
    struct requests requests = requests_of(trace);
    assert_int_equal(requests.all.count, REQUESTS);
    end(&requests, trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datagram_is_a_request_until_it_is_answered),
        cmocka_unit_test(the_first_datagram_came_when_it_could_be_received),
        cmocka_unit_test(a_last_wait_is_in_vain),
        cmocka_unit_test(sockets_of_their_own_are_one_queue_that_is_dealt),
        cmocka_unit_test(who_is_told_and_finds_nothing_has_no_request),
        cmocka_unit_test(who_receives_several_answers_them_in_order),
        cmocka_unit_test(what_is_not_answered_before_the_next_wait_is_left_out),
        cmocka_unit_test(a_thread_may_answer_late),
        cmocka_unit_test(others_may_answer_what_one_receives),
        cmocka_unit_test(who_asks_first_is_no_server),
        cmocka_unit_test(a_connection_is_no_socket_for_datagrams),
        cmocka_unit_test(what_the_program_may_have_sent_itself_is_refused),
        cmocka_unit_test(without_scheduling_it_is_refused),
        cmocka_unit_test(a_descriptor_may_be_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
