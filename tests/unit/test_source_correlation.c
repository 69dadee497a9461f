/* How the stack samples weigh what the source splits among the threads. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/catalog.h"
#include "modelgen/events/source_correlation.h"
#include "tests/unit/trace_builder.h"

#define ENOUGH 40

/* run: takes a lock in line 10 and gives it back in line 20; line 12 calls work with a part of what
 * there is to do, line 15 does something of each thread's own. */
static struct trace_frame lock = {.function = "run", .line = 10};
static struct trace_frame unlock = {.function = "run", .line = 20};
static struct facts_share part = {
    .place = {.function = "run", .line = 12}, .rest = REST_LAST, .callee = "work", .why = "n / 2"};
static const struct facts facts = {.shares = &part, .n_shares = 1};

/* A trace whose contexts are these two, of so many frames each. */
static struct trace *trace_of(size_t n_frames, const struct trace_frame *first, size_t n_others,
                              const struct trace_frame *second) {
    struct trace *trace = builder_new(2);
    assert_int_equal(builder_chain(trace, n_frames, first), 0);
    assert_int_equal(builder_chain(trace, n_others, second), 1);
    return trace;
}

/* The share of the computation from the one call to the other in run; frees the trace. */
static double share_between(struct trace *trace, const struct facts *known,
                            const struct sample *sample, bool *visible) {
    struct source source = {trace, known, sample, visible};
    double share = source_split_between(&source, "run", 0, 1).share;
    trace_free(trace);
    return share;
}

/* The share of the computation between the lock and the unlock, when so many samples, besides those
 * of the part, were in what line 15 calls. */
static double share_with(const char *callee, int samples) {
    struct sample_node nodes[] = {
        {.parent = -1, .function = "run", .line = 12},
        {.parent = 0, .function = "work", .running = ENOUGH},
        {.parent = -1, .function = "run", .line = 15},
        {.parent = 2, .function = (char *)callee},
        {.parent = 3, .function = "futex_wake", .running = (uint64_t)samples},
    };
    struct sample sample = {.nodes = nodes, .n_nodes = 5};
    return share_between(trace_of(1, &lock, 1, &unlock), &facts, &sample, NULL);
}

static void what_lies_beside_the_part_is_weighed(void **state) {
    (void)state;
    assert_true(share_with("check", 0) == 1);
    assert_true(share_with("check", ENOUGH) == 0.5);
}

/* Two files may have a static function of that name. */
static void facts_are_of_a_function_of_their_file(void **state) {
    (void)state;
    struct trace_frame frame = {.function = "run", .file = "/src/a.c", .line = 10};
    struct trace *traced = builder_new(2);
    builder_chain(traced, 1, &frame);
    struct facts_loop loop = {.function = "run", .first_line = 5, .last_line = 15};
    struct facts_place place = {.function = "run", .line = 10};
    char *files[] = {"/src/b.c", "/other/folder/a.c", NULL}; /* folders may be written otherwise */
    for (int i = 0; i < 3; i++) {
        loop.file = place.file = files[i];
        assert_int_equal(source_context_in_loop(traced, 0, &loop), i > 0);
        assert_int_equal(source_frame_is_at(&frame, &place), i > 0);
    }
    trace_free(traced);
}

static void a_traced_call_is_no_computation(void **state) {
    (void)state;
    assert_true(share_with("pthread_cond_signal", ENOUGH) == 1);
    assert_true(share_with("___pthread_cond_signal", ENOUGH) == 1);
    assert_true(share_with("__libc_read", ENOUGH) == 1);
}

/* work, called in line 12 of run, takes a lock in its line 50, behind a loop that is split. */
static void what_a_callee_does_before_its_call_lies_between(void **state) {
    (void)state;
    struct trace_frame inner[] = {{.function = "work", .line = 50, .offset = 5},
                                  {.function = "run", .line = 12, .offset = 6}};
    struct trace *deep = trace_of(1, &lock, 2, inner);
    struct facts_loop loop = {.function = "work",
                              .first_line = 40,
                              .last_line = 45,
                              .bound = BOUND_SHARE,
                              .why = "i += n"};
    const struct facts loops = {.loops = &loop, .n_loops = 1};
    bool visible = false;
    struct source source = {deep, &loops, NULL, &visible};
    assert_true(source_split_between(&source, "run", 0, 1).share == 1);
    loop.first_line = 55; /* it comes after the lock */
    loop.last_line = 60;
    assert_true(source_split_between(&source, "run", 0, 1).share == 0);
    assert_true(source_split_between(&source, "run", 1, TRACE_NO_CONTEXT).share == 1);
    trace_free(deep);
}

/* enter, inlined in line 30 of run's split loop, takes a lock in line 5 and gives it back in line
 * 9: the frames of run have the addresses of these calls, but no round of the loop lies between. */
static void two_calls_of_an_inlined_function_lie_in_one_call_of_it(void **state) {
    (void)state;
    struct trace_frame first[] = {{.function = "enter", .line = 5, .column = 3, .offset = 50},
                                  {.function = "run", .line = 30, .column = 9, .offset = 50}};
    struct trace_frame second[] = {{.function = "enter", .line = 9, .column = 3, .offset = 90},
                                   {.function = "run", .line = 30, .column = 9, .offset = 90}};
    struct trace *inlined = trace_of(2, first, 2, second);
    struct facts_loop loop = {.function = "run",
                              .first_line = 29,
                              .last_line = 31,
                              .bound = BOUND_SHARE,
                              .why = "i += n"};
    const struct facts loops = {.loops = &loop, .n_loops = 1};
    bool visible = false;
    struct source source = {inlined, &loops, NULL, &visible};
    assert_true(source_split_between(&source, "run", 0, 1).share == 0);
    assert_true(source_split_between(&source, "run", 1, 0).share == 1);
    trace_free(inlined);
}

/* run takes items off a counter in lines 12 to 15, and would write a message of a bad one. */
static double share_of_silent_loop(const struct sample *sample, bool visible) {
    struct facts_loop loop = {.function = "run",
                              .first_line = 12,
                              .last_line = 15,
                              .bound = BOUND_SHARED,
                              .has_fragments = true,
                              .why = "atomic operation on next"};
    const struct facts loops = {.loops = &loop, .n_loops = 1};
    return share_between(trace_of(1, &lock, 1, &unlock), &loops, sample, &visible);
}

static void a_loop_whose_calls_were_not_made_is_known_by_samples(void **state) {
    (void)state;
    struct sample_node nodes[] = {
        {.parent = -1, .function = "run", .line = 14, .running = ENOUGH},
        {.parent = -1, .function = "run", .line = 17, .running = ENOUGH},
    };
    struct sample sample = {.nodes = nodes, .n_nodes = 2};
    assert_true(share_of_silent_loop(&sample, false) == 0.5);
    assert_true(share_of_silent_loop(&sample, true) == 0);
    assert_true(share_of_silent_loop(NULL, false) == 0); /* it may never have run */
    nodes[0].line = 11;
    assert_true(share_of_silent_loop(&sample, false) == 0);
}

/* std::thread begins in the library. */
static void threads_of_the_library_lead_to_what_they_were_handed(void **state) {
    (void)state;
    struct sample_node nodes[] = {
        {.parent = -1, .function = "[libstdc++.so.6]", .module = "libstdc++.so.6"},
        {.parent = 0, .function = "_M_run", .file = "/usr/include/c++/12/bits/std_thread.h"},
        {.parent = 1, .function = "run", .file = "run.cpp", .line = 12, .running = ENOUGH},
    };
    struct sample sample = {.nodes = nodes, .n_nodes = 3};
    struct facts_loop loop = {.function = "run", .first_line = 10, .last_line = 20};
    assert_true(source_sampled_share(&sample, "run", &loop) == 1);
    assert_true(source_sampled_share(&sample, "[libstdc++.so.6]", &loop) == 1);
    assert_true(source_sampled_share(&sample, "_M_run", &loop) == 0);
}

static void calls_are_known_by_the_c_librarys_names(void **state) {
    (void)state;
    assert_int_equal(api_find_internal("sem_wait"), api_find("sem_wait"));
    assert_int_equal(api_find_internal("__new_sem_wait"), api_find("sem_wait"));
    assert_int_equal(api_find_internal("__GI___nanosleep"), api_find("nanosleep"));
    assert_int_equal(api_find_internal("_IO_fread"), api_find("fread"));
    assert_int_equal(api_find_internal("__pthread_clockjoin_ex"), api_find("pthread_clockjoin_np"));
    assert_int_equal(api_find_internal("__pthread_mutex_unlock_usercnt"),
                     api_find("pthread_mutex_unlock"));
    assert_int_equal(api_find_internal("__pthread_cond_wait_common"),
                     api_find("pthread_cond_wait"));
    assert_int_equal(api_find_internal("read_int"), -1);
    assert_int_equal(api_find_internal("__read"), api_find("read"));
    assert_int_equal(api_find_internal("__resolv_context_freeres"), -1);
    assert_int_equal(api_find_internal("___"), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_beside_the_part_is_weighed),
        cmocka_unit_test(facts_are_of_a_function_of_their_file),
        cmocka_unit_test(a_traced_call_is_no_computation),
        cmocka_unit_test(what_a_callee_does_before_its_call_lies_between),
        cmocka_unit_test(two_calls_of_an_inlined_function_lie_in_one_call_of_it),
        cmocka_unit_test(a_loop_whose_calls_were_not_made_is_known_by_samples),
        cmocka_unit_test(threads_of_the_library_lead_to_what_they_were_handed),
        cmocka_unit_test(calls_are_known_by_the_c_librarys_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
