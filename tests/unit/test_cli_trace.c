/* cli/tally, cli/chrome: what report sums up and export hands to Perfetto. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/chrome.h"
#include "cli/tally.h"

/* Two threads; mutex 1 is locked by both, mutex 2 and descriptor 2 are different things. */
static struct trace_frame frames[] = {
    {.function = "worker", .file = "/src/a.c", .line = 10, .module = "a", .offset = 0x10},
    {.function = "quote\"d", .file = NULL, .module = "a", .offset = 0x20},
};
static struct trace_context contexts[] = {
    {.n_frames = 1, .frames = &frames[0]},
    {.n_frames = 1, .frames = &frames[1]},
};
static struct trace_record first_records[] = {
    {.start_ns = 1000, .duration_ns = 0, .api = API_pthread_mutex_lock, .object = 1, .context = 0},
    {.start_ns = 2000,
     .duration_ns = 500,
     .api = API_pthread_mutex_lock,
     .object = 2,
     .context = 1},
    {.start_ns = 9000, .duration_ns = 77, .api = API_read, .object = 2, .context = 1},
};
static struct trace_record second_records[] = {
    {.start_ns = 1500,
     .duration_ns = 1234,
     .api = API_pthread_mutex_lock,
     .object = 1,
     .context = 0},
    {.start_ns = 4000,
     .duration_ns = 0,
     .api = API_pthread_mutex_unlock,
     .object = 1,
     .context = TRACE_NO_CONTEXT},
};
static struct trace_slice slices[] = {{.on_ns = 100, .off_ns = 350, .cpu = 1}};
static char first_routine[] = "main";
static char second_routine[] = "worker";
static struct trace_thread threads[] = {
    {.index = 0, .start_routine = first_routine, .n_records = 3, .records = first_records},
    {.index = 1,
     .start_routine = second_routine,
     .n_records = 2,
     .records = second_records,
     .n_slices = 1,
     .slices = slices},
};
static const struct trace trace = {
    .n_contexts = 2, .contexts = contexts, .n_threads = 2, .threads = threads};

static void objects_are_summed_over_threads_and_files_left_out(void **state) {
    (void)state;
    struct tally tally = tally_objects(&trace);
    tally_sort(&tally);
    assert_int_equal(tally.count, 2);
    assert_int_equal(tally.items[0].object, 1);
    assert_int_equal(tally.items[0].operations, 3);
    assert_int_equal(tally.items[0].waits, 1);
    assert_int_equal(tally.items[0].wait_ns, 1234);
    assert_int_equal(tally.items[1].object, 2);
    assert_int_equal(tally.items[1].wait_ns, 500);
    free(tally.items);
}

static void sites_are_told_apart_by_call_and_place(void **state) {
    (void)state;
    struct tally tally = tally_sites(&trace);
    tally_sort(&tally);
    assert_int_equal(tally.count, 4); /* lock at two places, unlock, read */
    assert_int_equal(tally.items[0].operations, 2);
    assert_int_equal(tally.items[0].wait_ns, 1234);
    assert_int_equal(tally.items[2].api, API_read);
    assert_int_equal(tally.items[2].wait_ns, 77);
    free(tally.items);
}

static const json_t *find_event(const json_t *events, const char *name) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (strcmp(json_string_value(json_object_get(event, "name")), name) == 0)
            return event;
    }
    return NULL;
}

static void the_export_is_json_with_calls_and_slices_in_microseconds(void **state) {
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    chrome_write(&trace, out);
    fclose(out);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
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
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_summed_over_threads_and_files_left_out),
        cmocka_unit_test(sites_are_told_apart_by_call_and_place),
        cmocka_unit_test(the_export_is_json_with_calls_and_slices_in_microseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
