/* Handlers of signals, whose calls are made by a source of its own. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/signal_sources.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, SOURCE };
enum { SEMAPHORE = 0x10, TICKS = 10, PERIOD = 1000000, END = 20 * PERIOD };

/* A call at the same place of the handler, whatever it interrupted. */
static uint32_t in_handler(struct trace *trace, const char *interrupted) {
    return builder_context(trace, "tick", 5, interrupted, 70);
}

static void name_handler(struct trace *trace) {
    struct trace_elsewhere *elsewhere = &trace->meta.elsewhere;
    elsewhere->handler = memory_alloc(1, sizeof *elsewhere->handler);
    elsewhere->handler[0] = (struct trace_handler){memory_strdup("tick"), 14, TICKS};
    elsewhere->n_handlers = 1;
}

/* Main waits for the worker, and is interrupted by each second signal, the worker by the others.
 * The recorded wait ends where the first handler begins. */
static struct trace *ticking(int ticks) {
    struct trace *trace = builder_new_with_workers(1);
    uint32_t waits = builder_context(trace, "main", 9, "main", 9);
    uint32_t takes = builder_context(trace, "worker", 20, "worker", 20);
    builder_create(trace, MAIN, 10, 0, waits, WORKER);
    builder_join(trace, MAIN, 20, PERIOD - 20, waits, WORKER);
    for (int i = 1; i <= ticks; i++) {
        int thread = i % 2 ? MAIN : WORKER;
        builder_record(trace, thread, "sem_post", (uint64_t)i * PERIOD, 0, SEMAPHORE,
                       in_handler(trace, thread == MAIN ? "main" : "worker"), 0);
        if (thread == WORKER)
            builder_record(trace, WORKER, "sem_wait", (uint64_t)i * PERIOD + 10, 0, SEMAPHORE,
                           takes, 0);
    }
    builder_finish(trace, END);
    builder_run(trace, MAIN, 0, 0, 0, 100, false);
    builder_run(trace, MAIN, 0, 0, END - 100, END, false);
    name_handler(trace);
    return trace;
}

static size_t apply(struct event_log *log) {
    struct model *model = memory_alloc(1, sizeof *model);
    size_t n = signal_sources_as_threads(log, model);
    assert_int_equal(model->n_notes, n);
    model_free(model);
    return n;
}

static void calls_of_a_handler_are_those_of_a_thread_that_waits_in_between(void **state) {
    (void)state;
    struct trace *trace = ticking(TICKS);
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "signal_sources");
    assert_int_equal(apply(&log), 1);
    assert_int_equal(log.trace.n_threads, SOURCE + 1);
    assert_string_equal(log.trace.threads[SOURCE].start_routine, "tick");
    assert_int_equal(count_shown(&log, SOURCE, API_sem_post), TICKS);
    assert_int_equal(count_shown(&log, SOURCE, ROLE_timer), TICKS);
    assert_int_equal(count_shown(&log, MAIN, API_sem_post), 0);
    assert_int_equal(count_shown(&log, WORKER, API_sem_post), 0);
    assert_int_equal(count_shown(&log, WORKER, API_sem_wait), TICKS / 2);
    const struct trace_record *wait = shown_call(&log, SOURCE, 2);
    assert_int_equal(wait->api, ROLE_timer);
    assert_true(trace_end_ns(wait) == 2 * PERIOD);
    assert_true(wait->object == PERIOD); /* they come evenly */
    event_log_free(&log);
    trace_free(trace);
}

static void the_calls_are_one_place_whatever_they_interrupted(void **state) {
    (void)state;
    struct trace *trace = ticking(TICKS);
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "signal_sources");
    apply(&log);
    uint32_t place = shown_call(&log, SOURCE, 1)->context;
    for (size_t r = 1; r < 2 * TICKS; r += 2)
        assert_int_equal(shown_call(&log, SOURCE, r)->context, place);
    assert_int_equal(log.trace.contexts[place].n_frames, 1);
    assert_string_equal(log.trace.contexts[place].frames[0].function, "tick");
    event_log_free(&log);
    trace_free(trace);
}

static void the_first_thread_has_created_the_source(void **state) {
    (void)state;
    struct trace *trace = ticking(TICKS);
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "signal_sources");
    apply(&log);
    assert_int_equal(log.trace.threads[SOURCE].creator, MAIN);
    assert_int_equal(count_shown(&log, MAIN, API_pthread_create), 2);
    event_log_free(&log);
    trace_free(trace);
}

static void a_wait_that_was_interrupted_lasts_until_its_thread_goes_on(void **state) {
    (void)state;
    struct trace *trace = ticking(TICKS);
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "signal_sources");
    apply(&log);
    const struct trace_thread *thread = &log.trace.threads[MAIN];
    const struct trace_record *join = &thread->records[thread->n_records - 1];
    assert_int_equal(join->api, API_pthread_join);
    assert_true(trace_end_ns(join) == END - 100);
    event_log_free(&log);
    trace_free(trace);
}

static void a_few_signals_and_functions_that_are_no_handlers_stay(void **state) {
    (void)state;
    for (int named = 0; named <= 1; named++) {
        struct trace *trace = ticking(named ? 3 : TICKS);
        if (!named) {
            free(trace->meta.elsewhere.handler[0].function);
            trace->meta.elsewhere.handler[0].function = memory_strdup("another");
        }
        struct event_log log = event_log_of(trace);
        event_log_begin_pass(&log, "signal_sources");
        assert_int_equal(apply(&log), 0);
        assert_shown_as_recorded(&log, trace);
        event_log_free(&log);
        trace_free(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_a_handler_are_those_of_a_thread_that_waits_in_between),
        cmocka_unit_test(the_calls_are_one_place_whatever_they_interrupted),
        cmocka_unit_test(the_first_thread_has_created_the_source),
        cmocka_unit_test(a_wait_that_was_interrupted_lasts_until_its_thread_goes_on),
        cmocka_unit_test(a_few_signals_and_functions_that_are_no_handlers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
