/* The event log: events keep their ids through edits, each edit is kept with its pass, and
 * events_check() finds a log that was damaged. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/event_log.h"
#include "modelgen/events/events_check.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, SEMAPHORE = 0x10, CALLS = 5, EVENTS = 2 * CALLS };

/* Main and a worker release a semaphore CALLS times each, at 10, 20, 30 ... */
static struct trace *some_calls(void) {
    struct trace *trace = builder_new_with_workers(1);
    uint32_t context = builder_context(trace, "work", 10, "main", 20);
    for (int thread = MAIN; thread <= WORKER; thread++)
        for (uint64_t i = 1; i <= CALLS; i++)
            builder_record(trace, thread, "sem_post", 10 * i, 0, SEMAPHORE, context, 0);
    builder_finish(trace, 1000);
    return trace;
}

static struct trace_record call_at(uint64_t start_ns) {
    return (struct trace_record){
        .start_ns = start_ns, .api = API_sem_post, .context = TRACE_NO_CONTEXT};
}

static void drop_one(struct event_log *log, size_t thread, size_t number) {
    bool **dropped = event_log_flags(log);
    dropped[thread][number] = true;
    event_log_drop_all(log, dropped);
}

/* Behind the worker's events 0 and 2 one more each; its event 1 is dropped, main's event 4 changed.
 * The passes are called "tea" and "milk". */
static struct event_log edited(const struct trace *trace) {
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "tea");
    const struct event_insertion added[] = {{0, call_at(11)}, {2, call_at(31)}};
    event_log_insert(&log, WORKER, added, 2);
    event_log_begin_pass(&log, "milk");
    drop_one(&log, WORKER, 2); /* the second one recorded */
    event_log_change(&log, MAIN, 4)->value = 7;
    return log;
}

static void assert_ids(const struct event_log *log, size_t thread, size_t n, const event_id *ids) {
    assert_int_equal(log->trace.threads[thread].n_records, n);
    for (size_t r = 0; r < n; r++)
        assert_int_equal(event_log_id(log, thread, r), ids[r]);
}

static void recorded_events_have_ids_in_a_row(void **state) {
    (void)state;
    struct trace *trace = some_calls();
    struct event_log log = event_log_of(trace);
    assert_ids(&log, MAIN, CALLS, (event_id[]){0, 1, 2, 3, 4});
    assert_ids(&log, WORKER, CALLS, (event_id[]){5, 6, 7, 8, 9});
    assert_shown_as_recorded(&log, trace);
    assert_int_equal(log.edits.count, 0);
    assert_int_equal(events_check(&log, NULL), 0);
    event_log_free(&log);
    trace_free(trace);
}

static void ids_survive_insertions_and_drops(void **state) {
    (void)state;
    struct trace *trace = some_calls();
    struct event_log log = edited(trace);
    assert_ids(&log, MAIN, CALLS, (event_id[]){0, 1, 2, 3, 4});
    assert_ids(&log, WORKER, CALLS + 1, (event_id[]){5, EVENTS, 7, EVENTS + 1, 8, 9});
    assert_int_equal(shown_call(&log, WORKER, 1)->start_ns, 11);
    assert_int_equal(shown_call(&log, WORKER, 2)->start_ns, 30);
    assert_int_equal(trace->threads[WORKER].n_records, CALLS);
    event_log_free(&log);
    trace_free(trace);
}

static void an_event_knows_the_call_that_it_was_recorded_as(void **state) {
    (void)state;
    struct trace *trace = some_calls();
    struct event_log log = edited(trace);
    size_t thread = 9;
    assert_ptr_equal(event_log_recorded(&log, 4, &thread), &trace->threads[MAIN].records[4]);
    assert_int_equal(thread, MAIN);
    assert_ptr_equal(event_log_recorded(&log, event_log_id(&log, WORKER, 2), &thread),
                     &trace->threads[WORKER].records[2]);
    assert_int_equal(thread, WORKER);
    assert_null(event_log_recorded(&log, EVENTS, &thread));
    assert_int_equal(shown_call(&log, MAIN, 4)->value, 7);
    assert_int_equal(trace->threads[MAIN].records[4].value, 0);
    event_log_free(&log);
    trace_free(trace);
}

static void a_thread_without_calls_takes_no_ids(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    uint32_t context = builder_context(trace, "work", 10, "main", 20);
    builder_record(trace, 2, "sem_post", 10, 0, SEMAPHORE, context, 0);
    builder_finish(trace, 1000);
    struct event_log log = event_log_of(trace);
    size_t thread = 9;
    assert_ptr_equal(event_log_recorded(&log, 0, &thread), &trace->threads[2].records[0]);
    assert_int_equal(thread, 2);
    event_log_free(&log);
    trace_free(trace);
}

static void each_edit_is_kept_with_its_pass(void **state) {
    (void)state;
    struct trace *trace = some_calls();
    struct event_log log = edited(trace);
    const struct event_edit expected[] = {{EVENTS, EVENT_INSERTED, 0},
                                          {EVENTS + 1, EVENT_INSERTED, 0},
                                          {6, EVENT_DROPPED, 1},
                                          {4, EVENT_CHANGED, 1}};
    assert_int_equal(log.edits.count, 4);
    assert_memory_equal(log.edits.items, expected, sizeof expected);
    assert_string_equal(log.passes.items[0], "tea");
    assert_string_equal(log.passes.items[1], "milk");
    assert_int_equal(events_check(&log, NULL), 0);
    event_log_free(&log);
    trace_free(trace);
}

/* Main's last two calls become a thread of their own, in front of which it makes one more; of the
 * worker's nothing is left but the first. */
static void ids_survive_in_other_threads(void **state) {
    (void)state;
    struct trace *trace = some_calls();
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "tea");
    struct made_thread part = {.thread = trace->threads[MAIN], .origin = {MAIN, MAIN}};
    struct made_thread rest = part, worker = {.thread = trace->threads[WORKER]};
    part.thread.slices = rest.thread.slices = worker.thread.slices = NULL;
    for (size_t r = 0; r < 3; r++)
        event_list_keep(&rest.events, &log, MAIN, r, &trace->threads[MAIN].records[r]);
    event_list_insert(&part.events, &log, call_at(35));
    struct trace_record changed = trace->threads[MAIN].records[3];
    changed.value = 7;
    event_list_keep(&part.events, &log, MAIN, 3, &changed);
    event_list_keep(&part.events, &log, MAIN, 4, &trace->threads[MAIN].records[4]);
    event_list_keep(&worker.events, &log, WORKER, 0, &trace->threads[WORKER].records[0]);
    assert_int_equal(event_log_add_thread(&log, &part), 2);
    event_log_remake_thread(&log, MAIN, &rest);
    event_log_remake_thread(&log, WORKER, &worker);
    assert_int_equal(events_check(&log, NULL), -1); /* four events are gone */
    event_log_settle(&log);
    assert_int_equal(events_check(&log, NULL), 0);
    assert_ids(&log, MAIN, 3, (event_id[]){0, 1, 2});
    assert_ids(&log, WORKER, 1, (event_id[]){5});
    assert_ids(&log, 2, 3, (event_id[]){EVENTS, 3, 4});
    assert_int_equal(log.thread_origins[2].part_of, MAIN);
    const struct event_edit expected[] = {{EVENTS, EVENT_INSERTED, 0}, {3, EVENT_CHANGED, 0},
                                          {6, EVENT_DROPPED, 0},       {7, EVENT_DROPPED, 0},
                                          {8, EVENT_DROPPED, 0},       {9, EVENT_DROPPED, 0}};
    assert_int_equal(log.edits.count, 6);
    assert_memory_equal(log.edits.items, expected, sizeof expected);
    event_log_free(&log);
    trace_free(trace);
}

/* ---- damage ---- */

/* Damages the edited log, which was sound before. */
static void assert_found(void (*damage)(struct event_log *log), const char *with) {
    struct trace *trace = some_calls();
    struct event_log log = edited(trace);
    struct error error = {0};
    assert_int_equal(events_check(&log, &error), 0);
    damage(&log);
    assert_int_equal(events_check(&log, &error), -1);
    if (!strstr(error.text, with))
        fail_msg("\"%s\" does not say \"%s\"", error.text, with);
    event_log_free(&log);
    trace_free(trace);
}

static void show_twice(struct event_log *log) {
    log->threads[WORKER].ids[0] = 0;
}
static void lose_the_last(struct event_log *log) {
    log->trace.threads[WORKER].n_records--;
}
static void show_what_was_dropped(struct event_log *log) {
    log->threads[WORKER].ids[2] = 6;
}
static void go_back_in_time(struct event_log *log) {
    event_log_change(log, MAIN, 2)->start_ns = 19;
}
static void insert_after_the_end(struct event_log *log) {
    log->trace.threads[WORKER].records[3].start_ns = 1001;
}
static void call_from_nowhere(struct event_log *log) {
    event_log_change(log, MAIN, 1)->context = 1000;
}
static void name_no_pass(struct event_log *log) {
    log->edits.items[0].pass = 2;
}
static void name_an_empty_pass(struct event_log *log) {
    log->passes.items[1] = "";
}
static void insert_without_an_edit(struct event_log *log) {
    log->edits.items[1].event = EVENTS;
}
static void insert_what_was_recorded(struct event_log *log) {
    log->edits.items[1].event = 3;
}
static void edit_what_was_dropped(struct event_log *log) {
    log->edits.items[3].event = 6;
}
static void edit_what_never_was(struct event_log *log) {
    log->edits.items[3].event = EVENTS + 2;
}
static void show_what_never_was(struct event_log *log) {
    log->threads[WORKER].ids[2] = EVENTS + 2;
}
static void change_before_it_is_inserted(struct event_log *log) {
    log->edits.items[0].kind = EVENT_CHANGED;
}

static void damage_is_found(void **state) {
    (void)state;
    assert_found(show_twice, "shown twice");
    assert_found(lose_the_last, "no pass has dropped it");
    assert_found(show_what_was_dropped, "shows event 6, which was dropped");
    assert_found(go_back_in_time, "event 2 begins before one in front of it");
    assert_found(insert_after_the_end, "event 11 was inserted outside of the life of thread 1");
    assert_found(call_from_nowhere, "event 1 is called from 1000, of");
    assert_found(name_no_pass, "names no pass");
    assert_found(name_an_empty_pass, "names no pass");
    assert_found(insert_without_an_edit, "tea inserts event 10, which was there");
    assert_found(insert_what_was_recorded, "tea inserts event 3, which was there");
    assert_found(edit_what_was_dropped, "milk edits event 6, which was dropped");
    assert_found(edit_what_never_was, "milk edits event 12, of 12");
    assert_found(show_what_never_was, "has event 12, of 12");
    assert_found(change_before_it_is_inserted, "before it was inserted");
}

/* One that was never inserted, at the end of the log. */
static void an_event_out_of_nowhere_is_found(void **state) {
    (void)state;
    struct trace *trace = some_calls();
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "tea");
    event_log_insert(&log, MAIN, &(struct event_insertion){4, call_at(60)}, 1);
    log.edits.count = 0;
    struct error error = {0};
    assert_int_equal(events_check(&log, &error), -1);
    assert_non_null(strstr(error.text, "neither recorded nor inserted"));
    event_log_free(&log);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_events_have_ids_in_a_row),
        cmocka_unit_test(ids_survive_insertions_and_drops),
        cmocka_unit_test(an_event_knows_the_call_that_it_was_recorded_as),
        cmocka_unit_test(a_thread_without_calls_takes_no_ids),
        cmocka_unit_test(each_edit_is_kept_with_its_pass),
        cmocka_unit_test(ids_survive_in_other_threads),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(an_event_out_of_nowhere_is_found),
    };
    return cmocka_run_group_tests_name("event log", tests, NULL, NULL);
}
