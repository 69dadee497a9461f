/* Results of other threads that one waits for. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/futures.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, FIRST, SECOND };

/* A future's state, and the once that is passed when its result is set. */
enum { STATE = 0x1000, STATES_APART = 0x100, ONCE = 8 };

static uint64_t state(uint64_t number) {
    return STATE + number * STATES_APART;
}

static void set_result(struct trace *trace, int thread, uint64_t start_ns, uint64_t end_ns,
                       uint64_t of) {
    uint32_t context = builder_context(trace, "call_once", 10, "_M_set_result", 20);
    builder_record(trace, thread, "pthread_once", start_ns, end_ns - start_ns, state(of) + ONCE,
                   context, 0);
}

static void wait_for(struct trace *trace, int thread, uint64_t start_ns, uint64_t end_ns,
                     uint64_t of, int value) {
    uint32_t context = builder_context(trace, "fetch", 30, "main", 40);
    builder_record(trace, thread, "std_future_wait", start_ns, end_ns - start_ns, state(of),
                   context, value);
}

/* Four results come in the order 0, 2, 1, 3; main waits for 1 and for 3 and finds the others there.
 */
static struct trace *four_results(void) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "work", MAIN);
    set_result(trace, FIRST, 0, 100, 0);
    set_result(trace, SECOND, 0, 150, 2);
    set_result(trace, FIRST, 110, 200, 1);
    wait_for(trace, MAIN, 120, 205, 1, 0);
    set_result(trace, SECOND, 160, 300, 3);
    wait_for(trace, MAIN, 210, 310, 3, 0);
    return trace;
}

static void a_wait_is_for_all_results_up_to_its_own(void **unused) {
    (void)unused;
    struct trace *trace = four_results();
    builder_finish(trace, 400);
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    assert_int_equal(count_shown(&log, FIRST, ROLE_release), 2);
    assert_int_equal(count_shown(&log, SECOND, ROLE_release), 2);
    const struct trace_thread *waiting = &log.trace.threads[MAIN];
    const uint64_t ends[] = {205, 205, 205, 310}; /* the third to come, and the last */
    assert_int_equal(waiting->n_records, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(waiting->records[i].api, ROLE_acquire);
        assert_int_equal(object_origins_get(&log.origins, waiting->records[i].object),
                         ORIGIN_FUTURE);
        assert_int_equal(trace_end_ns(&waiting->records[i]), ends[i]);
    }
    assert_int_equal(waiting->records[0].duration_ns, 85);
    assert_int_equal(waiting->records[1].duration_ns, 0);
    event_log_free(&log);
    trace_free(trace);
}

/* Two results for each of two rounds; main sleeps behind each, and finds the last one of the first
 * round there. What is under way while it sleeps begins that many ns before the sleep's end. */
static struct trace *two_rounds(uint64_t begun_early_ns) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "work", MAIN);
    set_result(trace, FIRST, 0, 100, 0);
    set_result(trace, SECOND, 0, 102, 1);
    wait_for(trace, MAIN, 10, 101, 0, 0);
    uint32_t context = builder_context(trace, "pause", 60, "main", 40);
    builder_call(trace, MAIN, "nanosleep", 110, 200, 0, context);
    builder_call(trace, FIRST, "nanosleep", 103, 199 - begun_early_ns, 0, context);
    builder_call(trace, SECOND, "nanosleep", 150, 199, 0, context);
    set_result(trace, FIRST, 200 - begun_early_ns, 300, 2);
    set_result(trace, SECOND, 200, 302, 3);
    wait_for(trace, MAIN, 210, 305, 3, 0);
    builder_finish(trace, 400);
    return trace;
}

static size_t takes_before(const struct event_log *log, uint64_t time_ns) {
    const struct trace_thread *waiting = &log->trace.threads[MAIN];
    size_t n = 0;
    for (size_t r = 0; r < waiting->n_records; r++)
        n +=
            waiting->records[r].api == ROLE_acquire && trace_end_ns(&waiting->records[r]) < time_ns;
    return n;
}

static void results_found_there_are_fetched_before_the_next_round(void **unused) {
    (void)unused;
    struct trace *trace = two_rounds(0);
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    assert_int_equal(takes_before(&log, 110), 2);
    assert_int_equal(count_shown(&log, MAIN, ROLE_acquire), 4);
    event_log_free(&log);
    trace_free(trace);
}

static void while_results_are_under_way_only_those_waited_for_are_fetched(void **unused) {
    (void)unused;
    struct trace *trace = two_rounds(95);
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    assert_int_equal(takes_before(&log, 110), 1);
    assert_int_equal(count_shown(&log, MAIN, ROLE_acquire), 4);
    event_log_free(&log);
    trace_free(trace);
}

static void a_wait_in_vain_stays_one(void **unused) {
    (void)unused;
    struct trace *trace = four_results();
    wait_for(trace, MAIN, 320, 350, 9, 0); /* nobody set that */
    builder_finish(trace, 400);
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    assert_int_equal(count_shown(&log, MAIN, API_std_future_wait), 1);
    assert_int_equal(count_shown(&log, MAIN, ROLE_acquire), 4);
    event_log_free(&log);
    trace_free(trace);
}

/* The library's functions have no names: that a result was waited for shows where results are set.
 */
static void without_debug_information_a_wait_shows_where_results_are_set(void **unused) {
    (void)unused;
    struct trace *trace = four_results();
    for (size_t c = 0; c < trace->n_contexts; c++) {
        struct trace_frame *caller = &trace->contexts[c].frames[1];
        if (strcmp(caller->function, "_M_set_result") != 0)
            continue;
        free(caller->function);
        caller->function = memory_strdup("0x1234");
    }
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    assert_int_equal(count_shown(&log, FIRST, ROLE_release), 2);
    assert_int_equal(count_shown(&log, SECOND, ROLE_release), 2);
    assert_int_equal(count_shown(&log, MAIN, ROLE_acquire), 4);
    event_log_free(&log);
    trace_free(trace);
}

/* Something else is done once, and main sets a result itself. */
static void what_no_other_thread_set_for_the_waiting_one_is_no_permit(void **unused) {
    (void)unused;
    struct trace *trace = four_results();
    builder_call(trace, FIRST, "pthread_once", 250, 260, 0x9000,
                 builder_context(trace, "init", 50, "run", 60));
    set_result(trace, MAIN, 320, 330, 4);
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    assert_int_equal(count_shown(&log, FIRST, ROLE_release), 2);
    assert_int_equal(count_shown(&log, MAIN, ROLE_release), 0);
    assert_int_equal(count_shown(&log, MAIN, ROLE_acquire), 4);
    event_log_free(&log);
    trace_free(trace);
}

static void both_ends_of_a_future_are_one_object(void **unused) {
    (void)unused;
    struct trace *trace = four_results();
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    uint64_t object = log.trace.threads[MAIN].records[0].object;
    for (int thread = FIRST; thread <= SECOND; thread++)
        for (size_t r = 0; r < log.trace.threads[thread].n_records; r++)
            if (log.trace.threads[thread].records[r].api == ROLE_release)
                assert_int_equal(log.trace.threads[thread].records[r].object, object);
    event_log_free(&log);
    trace_free(trace);
}

static void where_several_threads_wait_all_stays_as_it_was(void **unused) {
    (void)unused;
    struct trace *trace = four_results();
    wait_for(trace, FIRST, 320, 350, 3, 0);
    builder_finish(trace, 400);
    struct event_log log = event_log_of(trace);
    futures_as_permits(&log);
    assert_int_equal(count_shown(&log, MAIN, API_std_future_wait), 2);
    assert_int_equal(count_shown(&log, FIRST, ROLE_release), 0);
    event_log_free(&log);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_for_all_results_up_to_its_own),
        cmocka_unit_test(results_found_there_are_fetched_before_the_next_round),
        cmocka_unit_test(while_results_are_under_way_only_those_waited_for_are_fetched),
        cmocka_unit_test(a_wait_in_vain_stays_one),
        cmocka_unit_test(without_debug_information_a_wait_shows_where_results_are_set),
        cmocka_unit_test(what_no_other_thread_set_for_the_waiting_one_is_no_permit),
        cmocka_unit_test(both_ends_of_a_future_are_one_object),
        cmocka_unit_test(where_several_threads_wait_all_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
