/* Calls in functions that only wrap them, and in the C++ library, are seen where these are called.
 */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/call_sites.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000 };

/* What call_sites_without_wrappers() makes the innermost function of the call on `line` of
 * `function`. */
static const char *seen_as(struct trace *trace, uint32_t context) {
    struct trace_context *contexts = call_sites_without_wrappers(trace);
    const char *name = contexts[context].frames[0].function;
    free(contexts);
    return name;
}

static void calls_are_where_the_wrappers_around_them_are_called(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    const struct {
        const char *api, *function, *caller;
        int line, caller_line;
    } calls[] = {
        {"pthread_mutex_lock", "safe_lock", "put", 5, 20},
        {"pthread_mutex_lock", "safe_lock", "get", 5, 30},
        {"pthread_mutex_lock", "add", "producer", 50, 70}, /* locks and unlocks: does something */
        {"pthread_mutex_unlock", "add", "producer", 51, 70},
        {"pthread_mutex_lock", "add", "producer", 50, 71},
        {"pthread_mutex_unlock", "add", "producer", 51, 71},
        {"pthread_mutex_lock", "enter", "start", 60, 80}, /* one place: may be the whole story */
        {"nanosleep", "pass_time", "producer", 90, 72},
        {"nanosleep", "pass_time", "consumer", 90, 82},
        {"pthread_mutex_trylock", "patient_lock", "put", 95, 21}, /* tries before it waits */
        {"pthread_mutex_lock", "patient_lock", "put", 97, 21},
        {"pthread_mutex_trylock", "patient_lock", "get", 95, 31},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        builder_record(trace, thread, calls[i].api, i, 0, MUTEX,
                       builder_context(trace, calls[i].function, calls[i].line, calls[i].caller,
                                       calls[i].caller_line),
                       0);
    assert_string_equal(seen_as(trace, builder_context(trace, "safe_lock", 5, "put", 20)), "put");
    assert_string_equal(seen_as(trace, builder_context(trace, "safe_lock", 5, "get", 30)), "get");
    assert_string_equal(seen_as(trace, builder_context(trace, "add", 50, "producer", 70)), "add");
    assert_string_equal(seen_as(trace, builder_context(trace, "enter", 60, "start", 80)), "enter");
    assert_string_equal(seen_as(trace, builder_context(trace, "pass_time", 90, "consumer", 82)),
                        "consumer");
    assert_string_equal(seen_as(trace, builder_context(trace, "patient_lock", 97, "put", 21)),
                        "put");
    assert_string_equal(seen_as(trace, builder_context(trace, "patient_lock", 95, "get", 31)),
                        "get");
    trace_free(trace);
}

/* Without symbols each address has a name of its own: what one place calls is one function. */
static void addresses_that_one_place_calls_are_no_wrappers(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    const struct {
        const char *api, *function, *caller;
    } calls[] = {
        {"pthread_mutex_lock", "0x1f08", "0x5000"}, /* the function at 0x1f00 locks, unlocks */
        {"pthread_mutex_unlock", "0x1f1f", "0x5000"}, {"pthread_mutex_lock", "0x1f08", "0x6000"},
        {"pthread_mutex_lock", "0x2008", "0x5010"}, /* the one at 0x2000 only locks */
        {"pthread_mutex_lock", "0x2008", "0x6010"},
    };
    uint32_t contexts[5];
    for (size_t i = 0; i < 5; i++) {
        contexts[i] = builder_context(trace, calls[i].function, 0, calls[i].caller, 0);
        builder_record(trace, thread, calls[i].api, i, 0, MUTEX, contexts[i], 0);
    }
    assert_string_equal(seen_as(trace, contexts[0]), "0x1f08");
    assert_string_equal(seen_as(trace, contexts[1]), "0x1f1f");
    assert_string_equal(seen_as(trace, contexts[2]), "0x1f08");
    assert_string_equal(seen_as(trace, contexts[3]), "0x5010");
    assert_string_equal(seen_as(trace, contexts[4]), "0x6010");
    trace_free(trace);
}

static void be_of_cpp_library(struct trace_frame *frame) {
    free(frame->file);
    frame->file = memory_strdup("/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h");
}

static void calls_of_the_cpp_library_are_where_it_is_called(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int thread = builder_thread(trace, "main", -1);
    uint32_t put = builder_context(trace, "__gthread_mutex_lock", 749, "put", 20);
    uint32_t alone = builder_context(trace, "__gthread_create", 660, "_M_start_thread", 30);
    be_of_cpp_library(&trace->contexts[put].frames[0]);
    be_of_cpp_library(&trace->contexts[alone].frames[0]);
    be_of_cpp_library(&trace->contexts[alone].frames[1]);
    builder_record(trace, thread, "pthread_mutex_lock", 1, 0, MUTEX, put, 0);
    builder_record(trace, thread, "pthread_mutex_lock", 2, 0, MUTEX, alone, 0);
    assert_string_equal(seen_as(trace, put), "put");
    assert_string_equal(seen_as(trace, alone), "__gthread_create");
    trace_free(trace);
}

static void its_functions_are_known_by_header_symbol_or_module(void **state) {
    (void)state;
    const char *header = "/usr/include/c++/12/bits/std_thread.h", *own = "/home/c/main.cpp";
    assert_true(call_sites_is_of_standard_library("_M_run", header, "prog"));
    assert_false(call_sites_is_of_standard_library("_ZSt4move", own, "prog"));
    assert_true(call_sites_is_of_standard_library("_ZNSt6thread4joinEv", NULL, "prog"));
    assert_true(call_sites_is_of_standard_library("0x1234", NULL, "libstdc++.so.6"));
    assert_false(call_sites_is_of_standard_library("work", NULL, "prog"));
    assert_false(call_sites_is_of_standard_library("work", NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_where_the_wrappers_around_them_are_called),
        cmocka_unit_test(addresses_that_one_place_calls_are_no_wrappers),
        cmocka_unit_test(calls_of_the_cpp_library_are_where_it_is_called),
        cmocka_unit_test(its_functions_are_known_by_header_symbol_or_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
