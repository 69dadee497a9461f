/* Threads that begin in the C++ library are shown as beginning in the function that they were
 * handed. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "modelgen/rewrite/entry_functions.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000 };

static void be_of_cpp_library(struct trace_frame *frame) {
    free(frame->file);
    frame->file = memory_strdup("/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h");
}

static void threads_of_the_cpp_library_begin_in_the_program(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int worker = builder_thread(trace, "0xd4490", main_thread);
    int silent = builder_thread(trace, "0xd4490", main_thread);
    int other = builder_thread(trace, "0xd4490", main_thread);
    int plain = builder_thread(trace, "serve", main_thread);
    trace->threads[other].creation_context = builder_context(trace, "start", 7, "main", 9);
    uint32_t work = builder_context(trace, "work", 20, "_M_run", 210);
    uint32_t call = builder_context(trace, "call", 30, "serve", 40);
    be_of_cpp_library(&trace->contexts[work].frames[1]);
    builder_record(trace, worker, "pthread_mutex_lock", 1, 0, MUTEX, work, 0);
    builder_record(trace, plain, "pthread_mutex_lock", 2, 0, MUTEX, call, 0);
    struct event_log log = event_log_of(trace);
    entry_functions_of_program(&log, NULL);
    assert_string_equal(log.trace.threads[main_thread].start_routine, "main");
    assert_string_equal(log.trace.threads[worker].start_routine, "work");
    assert_string_equal(log.trace.threads[silent].start_routine, "work"); /* created alike */
    assert_string_equal(log.trace.threads[other].start_routine, "0xd4490");
    assert_string_equal(log.trace.threads[plain].start_routine, "serve");
    event_log_free(&log);
    trace_free(trace);
}

static void where_none_of_them_calls_anything_the_source_tells(void **state) {
    (void)state;
    struct facts_creation creations[] = {{.place = {.function = "main", .file = "t.c", .line = 900},
                                          .object = ON_MUTEX,
                                          .name = "m"},
                                         {.place = {.function = "main", .file = "t.c", .line = 900},
                                          .object = ON_THREAD,
                                          .name = "paint"}};
    struct facts facts = {.creations = creations, .n_creations = 2};
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int silent = builder_thread(trace, "execute_native_thread_routine", main_thread);
    int named = builder_thread(trace, "serve", main_thread); /* not the library's */
    struct event_log log = event_log_of(trace);
    entry_functions_of_program(&log, &facts);
    assert_string_equal(log.trace.threads[silent].start_routine, "paint");
    assert_string_equal(log.trace.threads[named].start_routine, "serve");
    assert_string_equal(trace->threads[silent].start_routine, "execute_native_thread_routine");
    event_log_free(&log);
    trace_free(trace);
}

static void for_people_calls_are_where_the_program_makes_them(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int worker = builder_thread(trace, "0xd4490", main_thread);
    uint32_t lock = builder_context(trace, "__gthread_mutex_lock", 749, "work", 20);
    uint32_t inside = builder_context(trace, "__gthread_mutex_unlock", 779, "_M_run", 210);
    be_of_cpp_library(&trace->contexts[lock].frames[0]);
    be_of_cpp_library(&trace->contexts[inside].frames[0]);
    be_of_cpp_library(&trace->contexts[inside].frames[1]);
    builder_record(trace, worker, "pthread_mutex_lock", 1, 0, MUTEX, lock, 0);
    builder_record(trace, worker, "pthread_mutex_unlock", 2, 0, MUTEX, inside, 0);
    modelgen_name_calls(trace);
    assert_int_equal(trace->contexts[lock].n_frames, 1);
    assert_string_equal(trace->contexts[lock].frames[0].function, "work");
    assert_int_equal(trace->contexts[inside].n_frames, 2); /* all are the library's */
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_the_cpp_library_begin_in_the_program),
        cmocka_unit_test(where_none_of_them_calls_anything_the_source_tells),
        cmocka_unit_test(for_people_calls_are_where_the_program_makes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
