/* Tasks that the user marks: calls as they are recorded, the marks of a trace, and the model. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "formats/user_catalog.h"
#include "modelgen/rewrite/marked_tasks.h"
#include "simulator/simulator.h"
#include "tests/unit/trace_builder.h"
#include "tracer/task_marks.h"

static struct trace_record call(enum api api, uint64_t start_ns, uint64_t end_ns, unsigned flags) {
    return (struct trace_record){.api = (uint16_t)api,
                                 .start_ns = start_ns,
                                 .duration_ns = end_ns - start_ns,
                                 .flags = (uint16_t)flags};
}

static struct trace_thread thread_of(const struct trace_record *calls, size_t n) {
    struct trace_thread thread = {.records = memory_alloc(n, sizeof *calls), .n_records = n};
    for (size_t i = 0; i < n; i++)
        thread.records[i] = calls[i];
    return thread;
}

static void expect(struct trace_thread *thread, const struct trace_record *wanted, size_t n) {
    task_marks_place(thread);
    assert_int_equal(thread->n_records, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(thread->records[i].api, wanted[i].api);
        assert_int_equal(thread->records[i].start_ns, wanted[i].start_ns);
        assert_int_equal(thread->records[i].duration_ns, wanted[i].duration_ns);
    }
    free(thread->records);
}

static void a_call_with_others_inside_becomes_two_points(void **state) {
    (void)state;
    const struct trace_record calls[] = {call(ROLE_task, 10, 90, 0), call(API_usleep, 20, 60, 0),
                                         call(ROLE_task, 90, 95, 0)};
    const struct trace_record wanted[] = {
        call(ROLE_task_from, 10, 10, 0), call(API_usleep, 20, 60, 0),
        call(ROLE_task_until, 90, 90, 0), call(ROLE_task_from, 90, 90, 0),
        call(ROLE_task_until, 95, 95, 0)};
    struct trace_thread thread = thread_of(calls, 3);
    expect(&thread, wanted, 5);
}

/* It begins where its function is entered, and ends where the other one returns. */
static void begin_and_end_are_functions_of_their_own(void **state) {
    (void)state;
    const struct trace_record calls[] = {
        call(ROLE_task_from, 10, 30, 0), call(API_usleep, 12, 20, 0),
        call(ROLE_task_until, 50, 80, 0), call(API_usleep, 60, 70, 0)};
    const struct trace_record wanted[] = {call(ROLE_task_from, 10, 10, 0),
                                          call(API_usleep, 12, 20, 0), call(API_usleep, 60, 70, 0),
                                          call(ROLE_task_until, 80, 80, 0)};
    struct trace_thread thread = thread_of(calls, 4);
    expect(&thread, wanted, 4);
}

static void inner_calls_are_no_tasks_and_who_never_returns_ends_none(void **state) {
    (void)state;
    const struct trace_record calls[] = {call(ROLE_task, 10, 90, 0), call(ROLE_task, 20, 30, 0),
                                         call(ROLE_task, 100, 100, TRACE_UNFINISHED)};
    const struct trace_record wanted[] = {call(ROLE_task_from, 10, 10, 0),
                                          call(ROLE_task_until, 90, 90, 0),
                                          call(ROLE_task_from, 100, 100, 0)};
    struct trace_thread thread = thread_of(calls, 3);
    expect(&thread, wanted, 3);
}

enum { TASKS = 50, MS = 1000000, PERIOD = 5 * MS, SLEEP = 3 * MS };

static void put_mark(struct trace *trace, int thread, enum api api, uint64_t time_ns,
                     uint32_t place) {
    builder_call(trace, thread, "usleep", time_ns, time_ns, 0, place);
    builder_last(trace, thread)->api = (uint16_t)api;
}

/* Two workers: 1 ms of work, then a task of a sleep of 3 ms and 1 ms of work. */
static struct trace *marked_trace(void) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t place = builder_context(trace, "handle", 10, "worker", 1);
    for (int t = 0; t < 2; t++) {
        int thread = builder_thread(trace, "worker", main_thread);
        for (uint64_t i = 0; i < TASKS; i++) {
            uint64_t begin = i * PERIOD + MS;
            put_mark(trace, thread, ROLE_task_from, begin, place);
            builder_call(trace, thread, "usleep", begin, begin + SLEEP, 0, place);
            builder_last(trace, thread)->flags |= TRACE_WAITED;
            put_mark(trace, thread, ROLE_task_until, begin + SLEEP + MS, place);
            builder_slice(trace, thread, i * PERIOD, begin);
            builder_slice(trace, thread, begin + SLEEP, (i + 1) * PERIOD);
        }
    }
    builder_finish(trace, TASKS * PERIOD);
    return trace;
}

static void the_models_tasks_are_those_that_were_marked(void **state) {
    (void)state;
    struct model *model = builder_model(marked_trace(), NULL);
    size_t begins = 0, ends = 0;
    for (size_t n = 0; n < model->n_nodes; n++) {
        begins += model->nodes[n].kind == NODE_TASK_BEGIN;
        ends += model->nodes[n].kind == NODE_TASK_END;
    }
    assert_int_equal(begins, 1);
    assert_int_equal(ends, 1);
    model_free(model);
}

/* The ends of requests that a filter has found are the user's to say. */
static void marks_replace_ends_that_were_found(void **state) {
    (void)state;
    struct trace *trace = marked_trace();
    put_mark(trace, 1, ROLE_task_end, TASKS * (uint64_t)PERIOD, 0);
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "marked_tasks");
    struct marked_tasks marked = marked_tasks_show(&log);
    assert_int_equal(marked.begun, 2 * TASKS);
    assert_int_equal(marked.ended, 2 * TASKS);
    size_t ends = 0;
    for (size_t r = 0; r < log.trace.threads[1].n_records; r++)
        ends += log.trace.threads[1].records[r].api == ROLE_task_end;
    assert_int_equal(ends, TASKS);
    event_log_free(&log);
    trace_free(trace);
}

/* One thread begins a task, sleeps 3 ms in it and hands it over; another one computes 1 ms for it,
 * and ends it. */
static struct trace *handed_over(void) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int taker = builder_thread(trace, "taker", main_thread),
        worker = builder_thread(trace, "worker", main_thread);
    uint32_t start = builder_context(trace, "main", 1, "main", 1),
             stop = builder_context(trace, "main", 2, "main", 1);
    builder_create(trace, main_thread, 0, 1, start, taker);
    builder_create(trace, main_thread, 1, 1, start, worker);
    builder_join(trace, main_thread, 2, TASKS * PERIOD, stop, taker);
    builder_join(trace, main_thread, TASKS * PERIOD + 2, 1, stop, worker);
    uint32_t handle = builder_context(trace, "handle", 10, "taker", 1),
             finish = builder_context(trace, "finish", 20, "worker", 1);
    for (uint64_t i = 0; i < TASKS; i++) {
        uint64_t begin = i * PERIOD + MS, put = begin + SLEEP, end = put + MS;
        put_mark(trace, taker, ROLE_task_from, begin, handle);
        builder_call(trace, taker, "usleep", begin, put, 0, handle);
        builder_last(trace, taker)->flags |= TRACE_WAITED;
        builder_call(trace, taker, "g_async_queue_push", put, put, 0x1000, handle);
        builder_slice(trace, taker, i * PERIOD, begin);
        builder_call(trace, worker, "g_async_queue_pop", i ? i * PERIOD : 0, put, 0x1000, finish);
        builder_last(trace, worker)->flags |= TRACE_WAITED;
        builder_slice(trace, worker, put, end);
        put_mark(trace, worker, ROLE_task_until, end, finish);
    }
    builder_finish(trace, TASKS * PERIOD);
    return trace;
}

static void a_task_that_a_queue_hands_over_is_one(void **state) {
    (void)state;
    struct model *model = builder_model(handed_over(), NULL);
    struct sim_config config = {.seed = 1};
    struct sim_result result;
    struct error error;
    assert_int_equal(sim_predict(model, &config, &result, &error), 0);
    assert_true(fabs(result.response_ns.mean - (SLEEP + MS)) < 0.02 * (SLEEP + MS));
    sim_result_free(&result);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_with_others_inside_becomes_two_points),
        cmocka_unit_test(begin_and_end_are_functions_of_their_own),
        cmocka_unit_test(inner_calls_are_no_tasks_and_who_never_returns_ends_none),
        cmocka_unit_test(the_models_tasks_are_those_that_were_marked),
        cmocka_unit_test(a_task_that_a_queue_hands_over_is_one),
        cmocka_unit_test(marks_replace_ends_that_were_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
