/* Requests of servers: from the calls on connections to tasks that come from outside. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/requests.h"
#include "modelgen/rewrite/requests_as_tasks.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, OTHER };
enum { LISTENER = 3, LOOP = 4, FIRST = 5, BYTES = 16, EACH_NS = 10000, REQUESTS = 5 };

static struct trace *new_trace(int workers) {
    struct trace *trace = builder_new_with_workers(workers);
    trace->meta.has_wakes = true;
    return trace;
}

/* A call that returns at `end`; where it sleeps, the thread is woken 50 ns before. */
static struct trace_record *on(struct trace *trace, int thread, const char *api, int descriptor,
                               uint64_t start_ns, uint64_t end_ns, int value) {
    return builder_record(trace, thread, api, start_ns, end_ns - start_ns, (uint64_t)descriptor,
                          builder_context(trace, api, 1, "thread", 2), value);
}

static void woken(struct trace *trace, int thread, uint64_t wake_ns, uint64_t off_ns) {
    builder_run(trace, thread, 0, wake_ns, wake_ns + 20, off_ns, false);
}

/* Reads at `at`, writes until 500 ns later, closes. */
static void serve(struct trace *trace, int thread, int connection, uint64_t at_ns) {
    on(trace, thread, "read", connection, at_ns, at_ns + 10, BYTES);
    on(trace, thread, "write", connection, at_ns + 490, at_ns + 500, BYTES);
}

/* The worker accepts each EACH_NS, waiting for it, and serves it; in the end it waits in vain. */
static struct trace *accepting(void) {
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, WORKER, "accept", LISTENER, at - 5000, at, FIRST);
        woken(trace, WORKER, at - 50, at + 1000);
        serve(trace, WORKER, FIRST, at + 100);
        on(trace, WORKER, "close", FIRST, at + 700, at + 710, 0);
    }
    on(trace, WORKER, "accept", LISTENER, 6 * EACH_NS, 7 * EACH_NS, -1);
    builder_unfinished(trace, WORKER);
    builder_finish(trace, 7 * EACH_NS);
    return trace;
}

/* What a filter makes of it; the model has only what it says. */
struct shown {
    struct event_log log;
    struct model model;
    struct outside_queues queues;
};

static struct shown show(const struct trace *trace) {
    struct shown shown = {.log = event_log_of(trace)};
    event_log_begin_pass(&shown.log, "requests");
    shown.queues = requests_as_tasks(&shown.log, &shown.model);
    return shown;
}

static bool says(const struct shown *shown, const char *text) {
    for (size_t i = 0; i < shown->model.n_notes; i++)
        if (strstr(shown->model.notes[i], text))
            return true;
    return false;
}

static void end(struct shown *shown, struct trace *trace) {
    for (size_t i = 0; i < shown->model.n_notes; i++)
        free(shown->model.notes[i]);
    free(shown->model.notes);
    outside_queues_free(&shown->queues);
    event_log_free(&shown->log);
    trace_free(trace);
}

static void an_accepted_connection_is_taken_from_outside(void **state) {
    (void)state;
    struct trace *trace = accepting();
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_true(shown.queues.items[0].accepts);
    assert_true(shown.queues.items[0].connects);
    assert_float_equal(shown.queues.items[0].arrivals, REQUESTS, 0);
    const struct trace_record *take = shown_call(&shown.log, WORKER, 0);
    assert_int_equal(take->api, ROLE_get);
    assert_int_equal(take->object, shown.queues.items[0].object);
    assert_int_equal(trace_end_ns(take), EACH_NS - 50); /* until it was woken */
    assert_false(take->flags & TRACE_FAILED);
    end(&shown, trace);
}

/* In one of many the kernel has the socket's lock. */
static void a_thread_that_is_told_may_sleep_in_an_accept(void **state) {
    (void)state;
    enum { MANY = 40 };
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= MANY; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, WORKER, "epoll_wait", LOOP, at - 5000, at, 1);
        woken(trace, WORKER, at - 50, i == 7 ? at + 20 : at + 1000);
        on(trace, WORKER, "accept", LISTENER, at + 10, at + 60, FIRST);
        if (i == 7)
            woken(trace, WORKER, at + 40, at + 1000);
        serve(trace, WORKER, FIRST, at + 100);
        on(trace, WORKER, "close", FIRST, at + 700, at + 710, 0);
    }
    builder_finish(trace, (MANY + 1) * EACH_NS);
    struct requests requests = requests_find(trace);
    assert_int_equal(requests.all.count, MANY);
    for (size_t r = 0; r < MANY; r++) {
        assert_false(request_event_is_none(requests.all.items[r].wait));
        assert_int_equal(requests.all.items[r].to_ns, (r + 1) * EACH_NS - 50);
    }
    requests_free(&requests);
    trace_free(trace);
}

static void the_answers_last_write_ends_the_task(void **state) {
    (void)state;
    struct trace *trace = accepting();
    struct shown shown = show(trace);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_task_end), REQUESTS);
    assert_int_equal(shown_call(&shown.log, WORKER, 2)->api, API_write);
    assert_int_equal(shown_call(&shown.log, WORKER, 3)->api, ROLE_task_end);
    assert_int_equal(shown_call(&shown.log, WORKER, 3)->start_ns, EACH_NS + 600);
    end(&shown, trace);
}

static void the_last_wait_finds_nothing_more(void **state) {
    (void)state;
    struct trace *trace = accepting();
    struct shown shown = show(trace);
    const struct trace_thread *worker = &shown.log.trace.threads[WORKER];
    const struct trace_record *last = &worker->records[worker->n_records - 1];
    assert_int_equal(last->api, ROLE_get);
    assert_int_equal(last->context, shown_call(&shown.log, WORKER, 0)->context);
    assert_true(last->flags & TRACE_FAILED);
    end(&shown, trace);
}

/* In the model it is one of the threads that take from the queue. */
static void a_thread_that_never_got_a_request_waits_like_the_others(void **state) {
    (void)state;
    struct trace *trace = accepting();
    int late = builder_thread(trace, "worker", MAIN);
    on(trace, late, "accept", LISTENER, 2000, 7 * EACH_NS, -1);
    builder_unfinished(trace, late);
    builder_finish(trace, 7 * EACH_NS);
    struct shown shown = show(trace);
    const struct trace_record *wait = shown_call(&shown.log, late, 0);
    assert_int_equal(wait->api, ROLE_get);
    assert_int_equal(wait->object, shown.queues.items[0].object);
    assert_int_equal(wait->context, shown_call(&shown.log, WORKER, 0)->context);
    assert_true(wait->flags & TRACE_FAILED);
    end(&shown, trace);
}

/* Main accepts, the workers serve in turn. */
static void a_request_ends_in_the_thread_that_answers(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    for (uint64_t i = 1; i <= 4; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, MAIN, "accept", LISTENER, at - 5000, at, FIRST + (int)i);
        woken(trace, MAIN, at - 50, at + 100);
        serve(trace, i % 2 ? WORKER : OTHER, FIRST + (int)i, at + 200);
        on(trace, i % 2 ? WORKER : OTHER, "close", FIRST + (int)i, at + 900, at + 901, 0);
    }
    builder_finish(trace, 5 * EACH_NS);
    struct shown shown = show(trace);
    assert_int_equal(count_shown(&shown.log, MAIN, ROLE_get), 4);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_get), 0);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_task_end), 2);
    assert_int_equal(count_shown(&shown.log, OTHER, ROLE_task_end), 2);
    end(&shown, trace);
}

/* Main accepts two connections; the worker is told of both at once, each round. */
static struct trace *loop_with_two_connections(void) {
    struct trace *trace = new_trace(1);
    on(trace, MAIN, "accept", LISTENER, 10, 20, FIRST);
    on(trace, MAIN, "accept", LISTENER, 30, 40, FIRST + 1);
    on(trace, MAIN, "accept", LISTENER, 50, 4 * EACH_NS, -1);
    builder_unfinished(trace, MAIN);
    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, WORKER, "epoll_wait", LOOP, at - 5000, at, 2);
        woken(trace, WORKER, at - 50, at + 3000);
        serve(trace, WORKER, FIRST, at + 100);
        serve(trace, WORKER, FIRST + 1, at + 1000);
    }
    on(trace, WORKER, "epoll_wait", LOOP, 3 * EACH_NS + 2000, 4 * EACH_NS, -1);
    builder_unfinished(trace, WORKER);
    builder_finish(trace, 4 * EACH_NS);
    return trace;
}

static void requests_of_a_kept_connection_are_taken_one_by_one(void **state) {
    (void)state;
    struct trace *trace = loop_with_two_connections();
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_false(shown.queues.items[0].accepts);
    assert_false(shown.queues.items[0].connects);
    assert_true(shown.queues.items[0].is_own);
    assert_float_equal(shown.queues.items[0].arrivals, 6, 0);
    const struct trace_record *first = shown_call(&shown.log, WORKER, 0); /* was epoll_wait */
    const struct trace_record *second = shown_call(&shown.log, WORKER, 4);
    assert_int_equal(first->api, ROLE_get);
    assert_int_equal(trace_end_ns(first), EACH_NS); /* with coming back to a core */
    assert_int_equal(second->api, ROLE_get);        /* was read: it was there */
    assert_int_equal(second->duration_ns, 0);
    assert_int_equal(first->context, second->context);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_task_end), 6);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_get), 7); /* the last one in vain */
    assert_int_equal(count_shown(&shown.log, MAIN, ROLE_get), 0);
    end(&shown, trace);
}

/* The worker is told of a connection and accepts it, is told of the request and serves it. */
static void each_request_of_a_loop_may_have_a_connection_of_its_own(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, WORKER, "epoll_wait", LOOP, at - 5000, at, 1);
        woken(trace, WORKER, at - 50, at + 200);
        on(trace, WORKER, "accept", LISTENER, at + 10, at + 20, FIRST);
        on(trace, WORKER, "epoll_wait", LOOP, at + 30, at + 220, 1);
        woken(trace, WORKER, at + 210, at + 1000);
        serve(trace, WORKER, FIRST, at + 230);
        on(trace, WORKER, "close", FIRST, at + 900, at + 910, 0);
    }
    on(trace, WORKER, "epoll_wait", LOOP, 6 * EACH_NS, 7 * EACH_NS, -1);
    builder_unfinished(trace, WORKER);
    builder_finish(trace, 7 * EACH_NS);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_false(shown.queues.items[0].accepts);
    assert_true(shown.queues.items[0].connects);
    end(&shown, trace);
}

/* The first request comes in two parts; between them the second one is taken, and ended. */
static struct trace *loop_with_a_request_in_parts(void) {
    struct trace *trace = new_trace(1);
    on(trace, MAIN, "accept", LISTENER, 10, 20, FIRST);
    on(trace, MAIN, "accept", LISTENER, 30, 40, FIRST + 1);
    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, WORKER, "epoll_wait", LOOP, at - 5000, at, 1);
        woken(trace, WORKER, at - 50, at + 150);
        on(trace, WORKER, "read", FIRST, at + 100, at + 110, BYTES);
        on(trace, WORKER, "epoll_wait", LOOP, at + 120, at + 300, 1);
        woken(trace, WORKER, at + 280, at + 3000);
        serve(trace, WORKER, FIRST + 1, at + 400);
        on(trace, WORKER, "epoll_wait", LOOP, at + 1000, at + 1010, 1);
        serve(trace, WORKER, FIRST, at + 1100);
    }
    on(trace, WORKER, "epoll_wait", LOOP, 3 * EACH_NS + 2000, 5 * EACH_NS, -1);
    builder_unfinished(trace, WORKER);
    builder_finish(trace, 5 * EACH_NS);
    return trace;
}

/* Tasks under way at most, if the thread takes and ends them as it is shown to. */
static int most_under_way(const struct event_log *log, int thread) {
    int under_way = 0, most = 0;
    for (size_t i = 0; i < log->trace.threads[thread].n_records; i++) {
        const struct trace_record *call = shown_call(log, thread, i);
        under_way += call->api == ROLE_get && !(call->flags & TRACE_FAILED);
        under_way -= call->api == ROLE_task_end;
        most = under_way > most ? under_way : most;
    }
    assert_int_equal(under_way, 0);
    return most;
}

static void a_thread_ends_a_request_before_it_takes_the_next_one(void **state) {
    (void)state;
    struct trace *trace = loop_with_a_request_in_parts();
    struct shown shown = show(trace);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_task_end), 6);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_get), 7); /* the last one in vain */
    assert_int_equal(most_under_way(&shown.log, WORKER), 1);
    assert_int_equal(shown_call(&shown.log, WORKER, 2)->api, ROLE_idle); /* waits for the rest */
    const struct trace_record *next = shown_call(&shown.log, WORKER, 6);
    assert_int_equal(next->api, ROLE_get);
    assert_int_equal(next->start_ns, EACH_NS + 900); /* when the first was ended */
    assert_int_equal(next->duration_ns, 0);
    assert_int_equal(next->context, shown_call(&shown.log, WORKER, 0)->context);
    end(&shown, trace);
}

/* Response times are those of clients: it came when it did. */
static void a_request_that_is_taken_later_came_when_it_came(void **state) {
    (void)state;
    struct trace *trace = loop_with_a_request_in_parts();
    struct requests requests = requests_find(trace);
    assert_int_equal(requests.all.count, 6);
    const struct request *first = &requests.all.items[0], *second = &requests.all.items[1];
    assert_int_equal(first->to_ns, EACH_NS - 50);
    assert_int_equal(first->end_ns, EACH_NS + 900);
    assert_int_equal(second->from_ns, EACH_NS + 280);
    assert_int_equal(second->to_ns, EACH_NS + 280);
    assert_int_equal(second->end_ns, EACH_NS + 1600);
    assert_true(request_event_is_none(first->behind));
    assert_int_equal(second->behind.number, first->end.number);
    requests_free(&requests);
    trace_free(trace);
}

/* ---- loops with helper threads ---- */

enum { TOLD = 30 }; /* the descriptor through which helpers tell the loop */

static void woken_by(struct trace *trace, int thread, int waker, uint64_t wake_ns,
                     uint64_t off_ns) {
    woken(trace, thread, wake_ns, off_ns);
    struct trace_thread *of = &trace->threads[thread];
    of->slices[of->n_slices - 1].waker = 1 + (uint32_t)waker;
}

/* WORKER's loop takes two requests one after the other, sleeps until OTHER has done what it handed
 * over for the first, goes on with that, and then with the second one, which is done by then. */
static struct trace *loop_with_a_helper(bool tells_each_time, bool polls_between) {
    struct trace *trace = new_trace(2);
    on(trace, MAIN, "accept", LISTENER, 10, 20, FIRST);
    on(trace, MAIN, "accept", LISTENER, 30, 40, FIRST + 1);
    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, WORKER, "epoll_wait", LOOP, at - 5000, at, 1);
        woken(trace, WORKER, at - 50, at + 120);
        on(trace, WORKER, "read", FIRST, at + 100, at + 110, BYTES);
        if (polls_between) {
            on(trace, WORKER, "epoll_wait", LOOP, at + 120, at + 300, 1);
            woken(trace, WORKER, at + 280, at + 330);
        }
        on(trace, WORKER, "read", FIRST + 1, at + 310, at + 320, BYTES);
        on(trace, WORKER, "epoll_wait", LOOP, at + 330, at + 1000, 1);
        on(trace, OTHER, "write", TOLD, at + 970, at + 985, 8);
        if (tells_each_time) /* returns 0 */
            on(trace, OTHER, "eventfd_write", TOLD, at + 1005, at + 1008, 0);
        woken_by(trace, WORKER, OTHER, at + 980, at + 3000);
        on(trace, WORKER, "write", FIRST, at + 1010, at + 1020, BYTES);
        on(trace, WORKER, "epoll_wait", LOOP, at + 1030, at + 1031, 1);
        on(trace, WORKER, "write", FIRST + 1, at + 1040, at + 1050, BYTES);
    }
    on(trace, WORKER, "epoll_wait", LOOP, 3 * EACH_NS + 2000, 5 * EACH_NS, -1);
    builder_unfinished(trace, WORKER);
    builder_finish(trace, 5 * EACH_NS);
    return trace;
}

static void a_loop_takes_back_what_helpers_have_done(void **state) {
    (void)state;
    struct trace *trace = loop_with_a_helper(true, true);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_true(shown.queues.items[0].is_returned_to);
    assert_false(shown.queues.items[0].is_own);
    const struct {
        enum api api;
        int returned;
    } of_a_round[] = {{ROLE_get, 0}, {API_read, BYTES},  {ROLE_get, 0},      {API_read, BYTES},
                      {ROLE_get, 1}, {API_write, BYTES}, {ROLE_task_end, 0}, {ROLE_idle, 1},
                      {ROLE_get, 1}, {API_write, BYTES}, {ROLE_task_end, 0}};
    for (size_t i = 0; i < sizeof of_a_round / sizeof *of_a_round; i++) {
        assert_int_equal(shown_call(&shown.log, WORKER, i)->api, of_a_round[i].api);
        assert_int_equal(shown_call(&shown.log, WORKER, i)->value, of_a_round[i].returned);
    }
    const struct trace_record *waited = shown_call(&shown.log, WORKER, 4);
    assert_int_equal(waited->start_ns, EACH_NS + 330);
    assert_true(waited->flags & TRACE_WAITED);
    assert_int_equal(waited->context, shown_call(&shown.log, WORKER, 0)->context);
    assert_int_equal(waited->context, shown_call(&shown.log, WORKER, 8)->context);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_get), 13); /* the last one in vain */
    assert_int_equal(count_shown(&shown.log, OTHER, ROLE_put), 6);
    assert_int_equal(shown_call(&shown.log, OTHER, 0)->object, shown.queues.items[0].object);
    end(&shown, trace);
}

/* What came while the loop waited for a helper woke it: nothing was there when the helper did. */
static void a_helper_that_wakes_the_loop_is_no_request(void **state) {
    (void)state;
    struct trace *trace = loop_with_a_helper(true, true);
    struct requests requests = requests_find(trace);
    assert_int_equal(requests.all.count, 6);
    assert_int_equal(requests.helped.returns.count, 6);
    for (size_t r = 0; r < 6; r++) {
        uint64_t at = (r / 2 + 1) * EACH_NS;
        assert_int_equal(requests.all.items[r].from_ns, r % 2 ? at + 280 : at - 50);
        assert_true(request_event_is_none(requests.all.items[r].behind));
    }
    requests_free(&requests);
    trace_free(trace);
}

static void a_loop_may_take_one_request_each_time_round(void **state) {
    (void)state;
    for (int polls_between = 0; polls_between <= 1; polls_between++) {
        struct trace *trace = loop_with_a_helper(true, polls_between);
        struct shown shown = show(trace);
        assert_int_equal(shown.queues.n, 1);
        assert_int_equal(shown.queues.items[0].returned_first, polls_between);
        end(&shown, trace);
    }
}

static void a_loop_that_is_not_told_each_time_is_refused(void **state) {
    (void)state;
    struct trace *trace = loop_with_a_helper(false, true);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 0);
    assert_true(says(&shown, "until another thread has worked on them"));
    end(&shown, trace);
}

/* The client connects and asks at once; the loop is told of what there is to read only when it asks
 * again, for which it does not sleep. */
static void a_request_comes_with_its_connection_unless_the_loop_sleeps_in_between(void **state) {
    (void)state;
    for (int sleeps = 0; sleeps <= 1; sleeps++) {
        struct trace *trace = new_trace(1);
        for (uint64_t i = 1; i <= 3; i++) {
            uint64_t at = i * EACH_NS;
            on(trace, WORKER, "epoll_wait", LOOP, at - 5000, at, 1);
            woken(trace, WORKER, at - 50, at + (sleeps ? 30 : 900));
            on(trace, WORKER, "accept", LISTENER, at + 10, at + 20, FIRST);
            on(trace, WORKER, "epoll_wait", LOOP, at + 30, at + 100, 1);
            if (sleeps)
                woken(trace, WORKER, at + 80, at + 900);
            serve(trace, WORKER, FIRST, at + 110);
            on(trace, WORKER, "close", FIRST, at + 700, at + 710, 0);
        }
        builder_finish(trace, 5 * EACH_NS);
        struct requests requests = requests_find(trace);
        assert_int_equal(requests.all.count, 3);
        assert_int_equal(requests.all.items[0].to_ns, EACH_NS + (sleeps ? 80 : -50));
        requests_free(&requests);
        trace_free(trace);
    }
}

static void a_wait_for_connections_that_are_kept_is_idle(void **state) {
    (void)state;
    struct trace *trace = loop_with_two_connections();
    struct shown shown = show(trace);
    assert_int_equal(count_shown(&shown.log, MAIN, ROLE_idle), 3);
    end(&shown, trace);
}

static void what_a_thread_is_told_of_besides_came_in_between(void **state) {
    (void)state;
    struct trace *trace = loop_with_two_connections();
    struct requests requests = requests_find(trace);
    assert_int_equal(requests.all.count, 6);
    const struct request *first = &requests.all.items[0], *second = &requests.all.items[1];
    assert_int_equal(first->from_ns, EACH_NS - 50);
    assert_int_equal(first->to_ns, EACH_NS - 50);
    assert_true(request_event_is_none(second->wait));
    assert_int_equal(second->from_ns, EACH_NS - 50); /* since nothing was there */
    assert_int_equal(second->to_ns, EACH_NS);
    requests_free(&requests);
    trace_free(trace);
}

static void loops_of_several_threads_are_one_queue_that_is_dealt(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    for (int worker = WORKER; worker <= OTHER; worker++) {
        on(trace, MAIN, "accept", LISTENER, (uint64_t)worker * 10, (uint64_t)worker * 10 + 5,
           FIRST + worker);
        for (uint64_t i = 1; i <= 3; i++) {
            uint64_t at = i * EACH_NS + (uint64_t)worker * 10;
            on(trace, worker, "epoll_wait", LOOP + 10 * worker, at - 5000, at, 1);
            woken(trace, worker, at - 50, at + 1000);
            serve(trace, worker, FIRST + worker, at + 100);
        }
    }
    builder_finish(trace, 4 * EACH_NS);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_true(shown.queues.items[0].is_own);
    assert_float_equal(shown.queues.items[0].arrivals, 6, 0);
    end(&shown, trace);
}

/* Main and the worker, which it made, each have a loop and its connection; main's requests are
 * taken by the function `own`. */
static struct trace *main_serves_too(const char *own) {
    struct trace *trace = new_trace(1);
    for (int thread = MAIN; thread <= WORKER; thread++)
        on(trace, thread, "accept", LISTENER + 20 * thread, 10, 20, FIRST + thread);
    for (uint64_t i = 1; i <= 3; i++)
        for (int thread = MAIN; thread <= WORKER; thread++) {
            uint64_t at = i * EACH_NS + (uint64_t)thread * 10;
            on(trace, thread, "epoll_wait", LOOP + 10 * thread, at - 5000, at, 1);
            woken(trace, thread, at - 50, at + 1000);
            builder_record(trace, thread, "read", at + 100, 10, (uint64_t)FIRST + (uint64_t)thread,
                           builder_context(trace, thread == MAIN ? own : "take", 1, "thread", 2),
                           BYTES);
            on(trace, thread, "write", FIRST + thread, at + 490, at + 500, BYTES);
        }
    builder_finish(trace, 4 * EACH_NS);
    return trace;
}

static void who_made_the_threads_and_serves_as_they_do_shares_their_queue(void **state) {
    (void)state;
    struct trace *trace = main_serves_too("take");
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_true(shown.queues.items[0].is_own);
    assert_float_equal(shown.queues.items[0].arrivals, 6, 0);
    end(&shown, trace);
}

static void who_takes_requests_elsewhere_has_a_queue_of_its_own(void **state) {
    (void)state;
    struct trace *trace = main_serves_too("administer");
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 2);
    end(&shown, trace);
}

/* Such as sockets of one port (SO_REUSEPORT). */
static void listeners_of_several_threads_are_one_queue_that_is_dealt(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    for (uint64_t i = 1; i <= 3; i++)
        for (int worker = WORKER; worker <= OTHER; worker++) {
            uint64_t at = i * EACH_NS + (uint64_t)worker * 10;
            on(trace, worker, "accept", LISTENER + 20 * worker, at - 5000, at, FIRST + worker);
            woken(trace, worker, at - 50, at + 1000);
            serve(trace, worker, FIRST + worker, at + 100);
            on(trace, worker, "close", FIRST + worker, at + 700, at + 710, 0);
        }
    builder_finish(trace, 4 * EACH_NS);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_true(shown.queues.items[0].accepts);
    assert_true(shown.queues.items[0].is_own);
    end(&shown, trace);
}

/* The worker accepts and reads at once; two further requests come over each of two connections,
 * the second right behind the first. */
static struct trace *loop_that_reads_as_it_accepts(void) {
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= 2; i++) {
        uint64_t at = i * EACH_NS;
        int connection = FIRST + (int)i;
        on(trace, WORKER, "epoll_wait", LOOP, at - 5000, at, 1);
        woken(trace, WORKER, at - 50, at + 1000);
        on(trace, WORKER, "accept", LISTENER, at + 10, at + 20, connection);
        serve(trace, WORKER, connection, at + 100);
        on(trace, WORKER, "epoll_wait", LOOP, at + 1000, at + 3000, 1);
        woken(trace, WORKER, at + 2950, at + 5000);
        serve(trace, WORKER, connection, at + 3100);
        serve(trace, WORKER, connection, at + 4000); /* not told of it anew */
    }
    builder_finish(trace, 4 * EACH_NS);
    return trace;
}

static void what_is_read_as_its_connection_is_accepted_is_a_request_of_the_loop(void **state) {
    (void)state;
    struct trace *trace = loop_that_reads_as_it_accepts();
    struct requests requests = requests_find(trace);
    assert_int_equal(requests.all.count, 6);
    assert_int_equal(requests.sources.count, 1);
    assert_false(requests.sources.items[0].accepts);
    const struct request *first = &requests.all.items[0];
    assert_int_equal(first->from_ns, EACH_NS - 50); /* with its connection */
    assert_int_equal(first->to_ns, EACH_NS - 50);
    const struct request *behind = &requests.all.items[2];
    assert_true(request_event_is_none(behind->wait));
    assert_int_equal(behind->to_ns, EACH_NS + 3000);
    requests_free(&requests);
    trace_free(trace);
}

static void connections_that_two_threads_wait_for_are_shared(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    on(trace, MAIN, "accept", LISTENER, 10, 20, FIRST);
    for (uint64_t i = 1; i <= 4; i++) {
        uint64_t at = i * EACH_NS;
        int worker = i % 2 ? WORKER : OTHER;
        on(trace, worker, "epoll_wait", LOOP, at - 5000, at, 1);
        woken(trace, worker, at - 50, at + 1000);
        serve(trace, worker, FIRST, at + 100);
    }
    builder_finish(trace, 5 * EACH_NS);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_false(shown.queues.items[0].is_own);
    end(&shown, trace);
}

static void start_and_stop_are_no_part_of_the_work(void **state) {
    (void)state;
    struct trace *trace = accepting();
    struct trace_record *reads = on(trace, MAIN, "read", 99, 10, 2000, BYTES); /* a file, before */
    assert_non_null(reads);
    on(trace, MAIN, "read", 99, 2 * EACH_NS, 2 * EACH_NS + 100, BYTES);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.from_ns, EACH_NS - 50);
    assert_int_equal(shown.queues.to_ns, 5 * EACH_NS + 600);
    assert_int_equal(count_shown(&shown.log, MAIN, API_read), 1);
    end(&shown, trace);
}

/* Of sleeps that begin before the first request or end after the last one, what lies between. */
static void what_goes_on_from_the_start_or_beyond_the_end_is_cut(void **state) {
    (void)state;
    struct trace *trace = accepting();
    on(trace, MAIN, "nanosleep", 0, 10, EACH_NS + 200, 0);
    on(trace, MAIN, "nanosleep", 0, 5 * EACH_NS, 6 * EACH_NS, 0);
    struct shown shown = show(trace);
    assert_int_equal(shown_call(&shown.log, MAIN, 0)->start_ns, EACH_NS - 50);
    assert_int_equal(trace_end_ns(shown_call(&shown.log, MAIN, 0)), EACH_NS + 200);
    assert_int_equal(shown_call(&shown.log, MAIN, 1)->start_ns, 5 * EACH_NS);
    assert_int_equal(trace_end_ns(shown_call(&shown.log, MAIN, 1)), 5 * EACH_NS + 600);
    end(&shown, trace);
}

static void a_wait_for_the_signal_to_stop_is_idle(void **state) {
    (void)state;
    struct trace *trace = accepting();
    on(trace, MAIN, "sigwait", 0, 10, 2 * EACH_NS, 0); /* this one came in between */
    on(trace, MAIN, "sigwait", 0, 2 * EACH_NS, 6 * EACH_NS, 0);
    struct shown shown = show(trace);
    assert_int_equal(count_shown(&shown.log, MAIN, API_sigwait), 1);
    assert_int_equal(shown_call(&shown.log, MAIN, 1)->api, ROLE_idle);
    end(&shown, trace);
}

static void assert_refused(struct trace *trace, const char *why) {
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 0);
    assert_true(says(&shown, why));
    assert_shown_as_recorded(&shown.log, trace);
    end(&shown, trace);
}

static void what_is_not_answered_is_no_request(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        on(trace, WORKER, "accept", LISTENER, i * EACH_NS, i * EACH_NS + 10, FIRST);
        on(trace, WORKER, "read", FIRST, i * EACH_NS + 20, i * EACH_NS + 30, BYTES);
    }
    builder_finish(trace, 7 * EACH_NS);
    assert_refused(trace, "requests of this server are not recognised: nothing that was read");
}

static void a_thread_that_keeps_any_connection_is_not_modelled(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    on(trace, WORKER, "accept", LISTENER, 10, 20, FIRST);
    for (uint64_t i = 1; i <= REQUESTS; i++)
        serve(trace, WORKER, FIRST, i * EACH_NS);
    builder_finish(trace, 7 * EACH_NS);
    assert_refused(trace, "wait for the next request of one each");
}

/* Main accepts; each of two threads polls its own connection until the next request is there. */
static void one_that_is_told_of_nothing_else_is_not_modelled_either(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    for (int worker = WORKER; worker <= OTHER; worker++) {
        on(trace, MAIN, "accept", LISTENER, (uint64_t)worker * 10, (uint64_t)worker * 10 + 5,
           FIRST + worker);
        for (uint64_t i = 1; i <= REQUESTS; i++) {
            uint64_t at = i * EACH_NS + (uint64_t)worker * 10;
            on(trace, worker, "poll", 0, at - 5000, at, 1);
            woken(trace, worker, at - 50, at + 1000);
            serve(trace, worker, FIRST + worker, at + 100);
        }
    }
    builder_finish(trace, 7 * EACH_NS);
    assert_refused(trace, "wait for the next request of one each");
}

/* Main accepts two and makes a thread for each, which reads until the client closes: while OTHER
 * reads, and while WORKER does, or before. */
static struct trace *a_thread_for_each(bool closed_before) {
    struct trace *trace = new_trace(2);
    for (int worker = WORKER; worker <= OTHER; worker++) {
        uint64_t at = (uint64_t)worker * 100;
        on(trace, MAIN, "accept", LISTENER, at, at + 10, FIRST + worker);
        for (uint64_t i = 1; i <= REQUESTS; i++) {
            uint64_t came = i * EACH_NS + (uint64_t)worker * 2000;
            on(trace, worker, "read", FIRST + worker, came - 5000, came, BYTES);
            woken(trace, worker, came - 50, came + 1000);
            on(trace, worker, "write", FIRST + worker, came + 490, came + 500, BYTES);
        }
        bool sleeps = worker != WORKER || !closed_before;
        uint64_t closed = sleeps ? 8 * EACH_NS : 7 * EACH_NS + 10;
        on(trace, worker, "read", FIRST + worker, 7 * EACH_NS, closed, 0);
        if (sleeps)
            woken(trace, worker, 8 * EACH_NS - 50, 8 * EACH_NS);
    }
    builder_finish(trace, 9 * EACH_NS);
    builder_life(trace, WORKER, 120, 9 * EACH_NS);
    builder_life(trace, OTHER, 220, 9 * EACH_NS);
    return trace;
}

static void a_thread_that_was_made_for_a_connection_takes_what_comes_over_it(void **state) {
    (void)state;
    struct trace *trace = a_thread_for_each(false);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_false(shown.queues.items[0].is_own); /* a client asks again when it has its answer */
    assert_float_equal(shown.queues.items[0].arrivals, 2 * REQUESTS, 0);
    assert_int_equal(count_shown(&shown.log, MAIN, ROLE_idle), 2);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_get), REQUESTS + 1);
    assert_int_equal(count_shown(&shown.log, OTHER, ROLE_task_end), REQUESTS);
    const struct trace_record *last = shown_call(&shown.log, WORKER, 3 * REQUESTS);
    assert_int_equal(last->api, ROLE_get);
    assert_true(last->flags & TRACE_FAILED);
    end(&shown, trace);
}

/* The worker takes a request and sleeps until `waker` (none: -1) lets it write the answer. */
static void a_connection_that_was_closed_before_it_is_read_has_nothing_more(void **state) {
    (void)state;
    struct trace *trace = a_thread_for_each(true);
    struct shown shown = show(trace);
    assert_int_equal(count_shown(&shown.log, WORKER, ROLE_get), REQUESTS + 1);
    const struct trace_record *last = shown_call(&shown.log, WORKER, 3 * REQUESTS);
    assert_int_equal(last->api, ROLE_get);
    assert_true(last->flags & TRACE_FAILED);
    end(&shown, trace);
}

static struct trace *loop_that_sleeps(int waker, uint64_t slept_ns) {
    struct trace *trace = new_trace(2);
    on(trace, MAIN, "accept", LISTENER, 10, 20, FIRST);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        uint64_t at = i * EACH_NS;
        on(trace, WORKER, "epoll_wait", LOOP, at - 2000, at, 1);
        woken(trace, WORKER, at - 50, at + 150);
        on(trace, WORKER, "read", FIRST, at + 100, at + 110, BYTES);
        on(trace, WORKER, "epoll_wait", LOOP, at + 120, at + 170 + slept_ns, 1);
        woken(trace, WORKER, at + 120 + slept_ns, at + 6000);
        struct trace_thread *worker = &trace->threads[WORKER];
        worker->slices[worker->n_slices - 1].waker = (unsigned)(waker + 1) & 0xff;
        on(trace, WORKER, "write", FIRST, at + 5000, at + 5010, BYTES);
    }
    builder_finish(trace, 7 * EACH_NS);
    return trace;
}

static void a_loop_that_waits_for_threads_to_work_on_its_requests_is_not_modelled(void **state) {
    (void)state;
    assert_refused(loop_that_sleeps(OTHER, 1000), "until another thread has worked on them");
}

static void a_loop_that_mostly_waits_for_another_server_is_not_modelled(void **state) {
    (void)state;
    assert_refused(loop_that_sleeps(-1, 4000), "or another server answers");
}

/* What is missing then is a part of the response time only. */
static void a_loop_that_waits_for_the_rest_of_a_request_now_and_then_is(void **state) {
    (void)state;
    struct trace *trace = loop_that_sleeps(-1, 1000);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 1);
    assert_float_equal(shown.queues.items[0].arrivals, REQUESTS, 0);
    end(&shown, trace);
}

static void what_may_come_from_the_program_itself_does_not_come_from_outside(void **state) {
    (void)state;
    struct trace *trace = accepting();
    for (uint64_t i = 1; i <= REQUESTS; i++)
        on(trace, MAIN, "connect", 50, i * EACH_NS - 100, i * EACH_NS - 60, 0);
    assert_refused(trace, "as many connections as it accepts");
}

static void without_scheduling_it_is_not_known_when_requests_came(void **state) {
    (void)state;
    struct trace *trace = accepting();
    trace->meta.has_wakes = false;
    assert_refused(trace, "scheduling was not recorded");
}

static void a_program_that_accepts_nothing_stays_as_it_is(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    for (uint64_t i = 1; i <= REQUESTS; i++)
        serve(trace, WORKER, FIRST, i * EACH_NS);
    on(trace, WORKER, "poll", -1, 6 * EACH_NS, 7 * EACH_NS, 0);
    builder_finish(trace, 7 * EACH_NS);
    struct shown shown = show(trace);
    assert_int_equal(shown.queues.n, 0);
    assert_int_equal(shown.model.n_notes, 0);
    assert_shown_as_recorded(&shown.log, trace);
    end(&shown, trace);
}

static void what_was_measured_is_from_the_first_request_to_the_last(void **state) {
    (void)state;
    struct trace *trace = accepting();
    struct shown shown = show(trace);
    const struct outside_measured *measured = &shown.queues.measured;
    assert_float_equal(shown.queues.to_ns - shown.queues.from_ns, 4 * EACH_NS + 650, 0);
    assert_float_equal(measured->requests, REQUESTS, 0);
    assert_float_equal(measured->response_ns, 650, 1e-6);
    assert_float_equal(measured->cpu_ns, 4 * (1000 + 30) + 630, 1e-6);
    end(&shown, trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_accepted_connection_is_taken_from_outside),
        cmocka_unit_test(a_thread_that_is_told_may_sleep_in_an_accept),
        cmocka_unit_test(the_answers_last_write_ends_the_task),
        cmocka_unit_test(the_last_wait_finds_nothing_more),
        cmocka_unit_test(a_thread_that_never_got_a_request_waits_like_the_others),
        cmocka_unit_test(a_request_ends_in_the_thread_that_answers),
        cmocka_unit_test(each_request_of_a_loop_may_have_a_connection_of_its_own),
        cmocka_unit_test(requests_of_a_kept_connection_are_taken_one_by_one),
        cmocka_unit_test(a_thread_ends_a_request_before_it_takes_the_next_one),
        cmocka_unit_test(a_request_that_is_taken_later_came_when_it_came),
        cmocka_unit_test(a_loop_takes_back_what_helpers_have_done),
        cmocka_unit_test(a_helper_that_wakes_the_loop_is_no_request),
        cmocka_unit_test(a_loop_may_take_one_request_each_time_round),
        cmocka_unit_test(a_loop_that_is_not_told_each_time_is_refused),
        cmocka_unit_test(a_request_comes_with_its_connection_unless_the_loop_sleeps_in_between),
        cmocka_unit_test(a_wait_for_connections_that_are_kept_is_idle),
        cmocka_unit_test(what_a_thread_is_told_of_besides_came_in_between),
        cmocka_unit_test(loops_of_several_threads_are_one_queue_that_is_dealt),
        cmocka_unit_test(who_made_the_threads_and_serves_as_they_do_shares_their_queue),
        cmocka_unit_test(who_takes_requests_elsewhere_has_a_queue_of_its_own),
        cmocka_unit_test(listeners_of_several_threads_are_one_queue_that_is_dealt),
        cmocka_unit_test(what_is_read_as_its_connection_is_accepted_is_a_request_of_the_loop),
        cmocka_unit_test(connections_that_two_threads_wait_for_are_shared),
        cmocka_unit_test(start_and_stop_are_no_part_of_the_work),
        cmocka_unit_test(what_goes_on_from_the_start_or_beyond_the_end_is_cut),
        cmocka_unit_test(a_wait_for_the_signal_to_stop_is_idle),
        cmocka_unit_test(what_is_not_answered_is_no_request),
        cmocka_unit_test(a_thread_that_keeps_any_connection_is_not_modelled),
        cmocka_unit_test(one_that_is_told_of_nothing_else_is_not_modelled_either),
        cmocka_unit_test(a_thread_that_was_made_for_a_connection_takes_what_comes_over_it),
        cmocka_unit_test(a_connection_that_was_closed_before_it_is_read_has_nothing_more),
        cmocka_unit_test(a_loop_that_waits_for_threads_to_work_on_its_requests_is_not_modelled),
        cmocka_unit_test(a_loop_that_mostly_waits_for_another_server_is_not_modelled),
        cmocka_unit_test(a_loop_that_waits_for_the_rest_of_a_request_now_and_then_is),
        cmocka_unit_test(what_may_come_from_the_program_itself_does_not_come_from_outside),
        cmocka_unit_test(without_scheduling_it_is_not_known_when_requests_came),
        cmocka_unit_test(a_program_that_accepts_nothing_stays_as_it_is),
        cmocka_unit_test(what_was_measured_is_from_the_first_request_to_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
