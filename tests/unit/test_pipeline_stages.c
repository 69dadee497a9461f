/* Threads of one function that do different parts of the work. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/source_correlation.h"
#include "modelgen/threads/pipeline_stages.h"
#include "tests/unit/trace_builder.h"

enum { ROUNDS = 4, NONE = 0 };

/* What a worker takes from, by turns if it is two, and what it fills: addresses of mutexes. */
struct worker {
    uint64_t from, to, by_turns;
};

/* Each queue's condition has the address after its mutex'. */
static void put(struct trace *trace, int thread, uint64_t mutex, uint64_t start_ns) {
    builder_section(trace, thread,
                    (struct builder_section){.function = "put",
                                             .line = 10,
                                             .mutex = mutex,
                                             .start_ns = start_ns,
                                             .signals_before = mutex + 1});
}

/* The stages of `n` workers, all of one pool, which main serves: one line a worker. */
static int *stages_of(const struct worker *workers, int n, const uint64_t *filled, int n_filled) {
    struct trace *trace = builder_new(2);
    int pool_of[BUILDER_THREADS] = {0, 1, 1, 1, 1, 1, 1, 1};
    builder_thread(trace, "main", -1);
    for (int w = 0; w < n; w++)
        builder_thread(trace, "work", 0);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t now = 1000 * (i + 1);
        for (int f = 0; f < n_filled; f++)
            put(trace, 0, filled[f], now + 10 * (uint64_t)f);
        for (int w = 0; w < n; w++) {
            uint64_t from = workers[w].by_turns && i % 2 ? workers[w].by_turns : workers[w].from;
            builder_section(trace, w + 1,
                            (struct builder_section){.function = "get",
                                                     .line = 20,
                                                     .mutex = from,
                                                     .start_ns = now,
                                                     .waits_for = from + 1,
                                                     .woken_ns = now + 100});
            if (workers[w].to != NONE)
                put(trace, w + 1, workers[w].to, now + 300);
        }
    }
    builder_finish(trace, 1000 * (ROUNDS + 2));
    uint32_t *places = source_places(trace);
    int *stages = pipeline_stages_find(trace, places, pool_of, 2);
    free(places);
    trace_free(trace);
    return stages;
}

static void assert_stages(int *stages, const int *expected, int n) {
    for (int w = 0; w < n; w++)
        assert_int_equal(stages[w + 1], expected[w]);
    free(stages);
}

static void a_pipeline_has_stages(void **state) {
    (void)state;
    const struct worker workers[] = {{0x10, 0x20, NONE}, {0x10, 0x20, NONE}, {0x20, 0x30, NONE},
                                     {0x20, 0x30, NONE}, {0x30, 0x40, NONE}, {0x30, 0x40, NONE}};
    assert_stages(stages_of(workers, 6, (uint64_t[]){0x10}, 1), (int[]){0, 0, 1, 1, 2, 2}, 6);
}

static void some_stages_may_have_one_thread(void **state) {
    (void)state;
    const struct worker workers[] = {
        {0x10, 0x20, NONE}, {0x20, 0x30, NONE}, {0x20, 0x30, NONE}, {0x30, NONE, NONE}};
    assert_stages(stages_of(workers, 4, (uint64_t[]){0x10}, 1), (int[]){0, 1, 1, 2}, 4);
}

static void workers_of_one_queue_have_none(void **state) {
    (void)state;
    const struct worker workers[] = {
        {0x10, 0x20, NONE}, {0x10, 0x20, NONE}, {0x10, 0x20, NONE}, {0x10, 0x20, NONE}};
    assert_stages(stages_of(workers, 4, (uint64_t[]){0x10}, 1), (int[]){0, 0, 0, 0}, 4);
}

static void mailboxes_are_no_stages(void **state) {
    (void)state;
    const struct worker workers[] = {
        {0x10, NONE, NONE}, {0x20, NONE, NONE}, {0x30, NONE, NONE}, {0x40, NONE, NONE}};
    assert_stages(stages_of(workers, 4, (uint64_t[]){0x10, 0x20, 0x30, 0x40}, 4),
                  (int[]){0, 0, 0, 0}, 4);
}

/* Which of many objects a thread works on is no part of its own, such as frames of a video. */
static void workers_that_go_round_have_none(void **state) {
    (void)state;
    const struct worker workers[] = {
        {0x10, 0x50, 0x20}, {0x10, 0x50, 0x20}, {0x20, 0x50, 0x30}, {0x20, 0x50, 0x30}};
    assert_stages(stages_of(workers, 4, (uint64_t[]){0x10}, 1), (int[]){0, 0, 0, 0}, 4);
}

/* With more threads there would be more pairs. */
static void pairs_that_are_alike_are_no_stages(void **state) {
    (void)state;
    const struct worker workers[] = {
        {0x10, NONE, NONE}, {0x10, NONE, NONE}, {0x20, NONE, NONE}, {0x20, NONE, NONE}};
    assert_stages(stages_of(workers, 4, (uint64_t[]){0x10, 0x20, NONE}, 2), (int[]){0, 0, 0, 0}, 4);
}

/* Each follows the one before it: with more threads the chain would be longer. */
static void a_chain_of_threads_has_none(void **state) {
    (void)state;
    const struct worker workers[] = {
        {0x10, 0x20, NONE}, {0x20, 0x30, NONE}, {0x30, 0x40, NONE}, {0x40, 0x50, NONE}};
    assert_stages(stages_of(workers, 4, (uint64_t[]){0x10}, 1), (int[]){0, 0, 0, 0}, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_has_stages),
        cmocka_unit_test(some_stages_may_have_one_thread),
        cmocka_unit_test(workers_of_one_queue_have_none),
        cmocka_unit_test(mailboxes_are_no_stages),
        cmocka_unit_test(workers_that_go_round_have_none),
        cmocka_unit_test(pairs_that_are_alike_are_no_stages),
        cmocka_unit_test(a_chain_of_threads_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
