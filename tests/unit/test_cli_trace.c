/* cli/report/tally, cli/report/chrome: what report sums up and export hands to Perfetto. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/chrome.h"
#include "cli/report/tally.h"
#include "tests/unit/trace_builder.h"

/* Two threads; mutex 1 is locked by both, mutex 2 and descriptor 2 are different things. */
static struct trace *two_threads(void) {
    char worker[] = "worker", odd[] = "quote\"d", file[] = "/src/a.c", module[] = "a";
    const struct trace_frame frames[] = {
        {.function = worker, .file = file, .line = 10, .module = module, .offset = 0x10},
        {.function = odd, .file = NULL, .module = module, .offset = 0x20},
    };
    struct trace *trace = builder_new(2);
    uint32_t first = builder_chain(trace, 1, &frames[0]),
             second = builder_chain(trace, 1, &frames[1]);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "worker", 0);
    builder_call(trace, 0, "pthread_mutex_lock", 1000, 1000, 1, first);
    builder_call(trace, 0, "pthread_mutex_lock", 2000, 2500, 2, second);
    builder_call(trace, 0, "read", 9000, 9077, 2, second);
    builder_call(trace, 1, "pthread_mutex_lock", 1500, 2734, 1, first);
    builder_call(trace, 1, "pthread_mutex_unlock", 4000, 4000, 1, TRACE_NO_CONTEXT);
    builder_run(trace, 1, 1, 0, 100, 350, false);
    return trace;
}

static void objects_are_summed_over_threads_and_files_left_out(void **state) {
    (void)state;
    struct trace *trace = two_threads();
    struct tally tally = tally_objects(trace);
    tally_sort(&tally);
    assert_int_equal(tally.count, 2);
    assert_int_equal(tally.items[0].object, 1);
    assert_int_equal(tally.items[0].operations, 3);
    assert_int_equal(tally.items[0].waits, 1);
    assert_int_equal(tally.items[0].wait_ns, 1234);
    assert_int_equal(tally.items[1].object, 2);
    assert_int_equal(tally.items[1].wait_ns, 500);
    free(tally.items);
    trace_free(trace);
}

static void sites_are_told_apart_by_call_and_place(void **state) {
    (void)state;
    struct trace *trace = two_threads();
    struct tally tally = tally_sites(trace);
    tally_sort(&tally);
    assert_int_equal(tally.count, 4); /* lock at two places, unlock, read */
    assert_int_equal(tally.items[0].operations, 2);
    assert_int_equal(tally.items[0].wait_ns, 1234);
    assert_int_equal(tally.items[2].api, API_read);
    assert_int_equal(tally.items[2].wait_ns, 77);
    free(tally.items);
    trace_free(trace);
}

static const json_t *find_event(const json_t *events, const char *name) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (strcmp(json_string_value(json_object_get(event, "name")), name) == 0)
            return event;
    }
    return NULL;
}

/* What Perfetto gets; the caller frees it. */
static json_t *exported(const struct trace *trace, struct trace_span span) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    chrome_write(trace, NULL, span, out);
    fclose(out);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    free(text);
    return json;
}

static const char *argument(const json_t *event, const char *key) {
    return json_string_value(json_object_get(json_object_get(event, "args"), key));
}

static void the_export_is_json_with_calls_and_slices_in_microseconds(void **state) {
    (void)state;
    struct trace *trace = two_threads();
    json_t *json = exported(trace, CHROME_ALL);
    const json_t *events = json_object_get(json, "traceEvents");
    const json_t *wait = find_event(events, "pthread_mutex_lock in worker");
    assert_non_null(wait);
    assert_true(json_number_value(json_object_get(wait, "ts")) == 1.5);
    assert_true(json_number_value(json_object_get(wait, "dur")) == 1.234);
    assert_int_equal(json_integer_value(json_object_get(wait, "tid")), 1);
    assert_non_null(find_event(events, "read in quote\"d"));
    assert_null(find_event(events, "pthread_mutex_unlock in ?"));
    const json_t *slice = find_event(events, "worker 1");
    assert_non_null(slice);
    assert_true(json_number_value(json_object_get(slice, "dur")) == 0.25);
    json_decref(json);
    trace_free(trace);
}

static void a_call_says_where_it_is_and_on_which_object(void **state) {
    (void)state;
    struct trace *trace = two_threads();
    json_t *json = exported(trace, CHROME_ALL);
    const json_t *events = json_object_get(json, "traceEvents");
    const json_t *wait = find_event(events, "pthread_mutex_lock in worker");
    assert_string_equal(argument(wait, "place"), "worker (a.c:10)");
    assert_string_equal(argument(wait, "caller"), "?");
    assert_string_equal(argument(wait, "object"), "mutex 0x1, first used by worker (a.c:10)");
    const json_t *read = find_event(events, "read in quote\"d");
    assert_null(argument(read, "object"));
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(read, "args"), "descriptor")), 2);
    json_decref(json);
    trace_free(trace);
}

/* Of the first event of that phase; NAN: there is none. */
static double time_of(const json_t *events, const char *phase) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0)
            return json_number_value(json_object_get(event, "ts"));
    }
    return NAN;
}

static bool names_track(const json_t *events, const char *name) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const char *named = argument(json_array_get(events, i), "name");
        if (named && strcmp(named, name) == 0)
            return true;
    }
    return false;
}

static void an_arrow_leads_from_who_woke_a_thread_to_where_it_ran(void **state) {
    (void)state;
    struct trace *trace = two_threads();
    builder_run(trace, 0, 0, 0, 1000, 5000, false);
    builder_run(trace, 1, 1, 3000, 4000, 6000, true);
    struct trace_slice *woken = &trace->threads[1].slices[1];
    woken->waker = 1;
    json_t *json = exported(trace, CHROME_ALL);
    const json_t *events = json_object_get(json, "traceEvents");
    assert_true(time_of(events, "s") == 3.0);
    assert_true(time_of(events, "f") == 4.0);
    assert_true(names_track(events, "core 1"));
    json_decref(json);
    woken->in_interrupt = 1; /* who was interrupted is no cause */
    json = exported(trace, CHROME_ALL);
    assert_true(isnan(time_of(json_object_get(json, "traceEvents"), "s")));
    json_decref(json);
    trace_free(trace);
}

static void a_part_of_the_run_has_what_lasts_into_it(void **state) {
    (void)state;
    struct trace *trace = two_threads();
    json_t *json = exported(trace, (struct trace_span){2600, 8000});
    const json_t *events = json_object_get(json, "traceEvents");
    assert_non_null(find_event(events, "pthread_mutex_lock in worker"));
    assert_null(find_event(events, "pthread_mutex_lock in quote\"d"));
    assert_null(find_event(events, "read in quote\"d"));
    assert_true(isnan(time_of(json_object_get(json, "traceEvents"), "s")));
    json_decref(json);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_summed_over_threads_and_files_left_out),
        cmocka_unit_test(sites_are_told_apart_by_call_and_place),
        cmocka_unit_test(the_export_is_json_with_calls_and_slices_in_microseconds),
        cmocka_unit_test(a_call_says_where_it_is_and_on_which_object),
        cmocka_unit_test(an_arrow_leads_from_who_woke_a_thread_to_where_it_ran),
        cmocka_unit_test(a_part_of_the_run_has_what_lasts_into_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
