/* Ways that threads take in an order that is known. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { ROUNDS = 100 };

static bool goes_left[ROUNDS];

static void decide(void) {
    unsigned random = 7;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525u + 1013904223u;
        goes_left[i] = random >> 31;
    }
}

static void nap(struct trace *trace, int thread, const char *function, const char *caller,
                uint64_t at_ns) {
    builder_record(trace, thread, "nanosleep", at_ns, 500, 0,
                   builder_context(trace, function, 10, caller, 20), 0);
}

/* A fork, and either left or right, by no rule but the list. */
static void go_round(struct trace *trace, int thread, const char *caller) {
    for (int i = 0; i < ROUNDS; i++) {
        nap(trace, thread, "fork", caller, 2000 * (uint64_t)(i + 1));
        nap(trace, thread, goes_left[i] ? "left" : "right", caller,
            2000 * (uint64_t)(i + 1) + 1000);
    }
}

static const struct node *fork_of(const struct model *model) {
    const struct node *found = NULL;
    for (size_t n = 0; n < model->n_nodes; n++)
        if (strstr(model->nodes[n].name, "fork (")) {
            assert_null(found);
            found = &model->nodes[n];
        }
    assert_non_null(found);
    return found;
}

static void one_thread_alone_decides_as_it_did(void **state) {
    (void)state;
    decide();
    struct trace *trace = builder_new(2);
    go_round(trace, builder_thread(trace, "main", -1), "main");
    builder_finish(trace, 2000 * (ROUNDS + 2));
    struct model *model = builder_model(trace, NULL);
    const struct node *fork = fork_of(model);
    assert_true(fork->n_course > 0);
    int round = 0;
    for (size_t i = 0; i + 1 < fork->n_course; i += 2)
        for (double times = fork->course[i + 1]; times > 0; times--) {
            const char *name = model->nodes[fork->edges[(size_t)fork->course[i]].to].name;
            assert_true(round < ROUNDS);
            assert_true((strstr(name, "left (") != NULL) == goes_left[round]);
            round++;
        }
    assert_int_equal(round, ROUNDS);
    model_free(model);
}

static const struct node *ordered_put(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_PUT && model->nodes[n].n_course > 0)
            return &model->nodes[n];
    return NULL;
}

/* Who draws its ways behind puts stands still. */
static struct modelgen_trial stalls_by_chance(const struct model *model, void *context) {
    const bool *ever = context;
    bool stalls = *ever && !ordered_put(model);
    return (struct modelgen_trial){.misfit = 0.1, .stalls = stalls, .fails = stalls};
}

/* Main puts and then goes left or right; a worker takes. */
static struct trace *put_round(void) {
    struct trace *trace = builder_new_with_workers(1);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t at_ns = 3000 * (uint64_t)(i + 1);
        struct builder_section give = {
            .function = "give", .line = 10, .mutex = 1, .start_ns = at_ns, .signals_after = 2};
        struct builder_section take = {.function = "take",
                                       .line = 20,
                                       .mutex = 1,
                                       .start_ns = at_ns - 1000,
                                       .waits_for = 2,
                                       .woken_ns = at_ns + 4};
        builder_section(trace, 0, give);
        builder_section(trace, 1, take);
        nap(trace, 0, goes_left[i] ? "left" : "right", "main", at_ns + 1000);
    }
    builder_finish(trace, 3000 * (ROUNDS + 2));
    return trace;
}

static void the_order_behind_puts_is_kept_where_the_model_stalls_without(void **state) {
    (void)state;
    decide();
    for (int stalls = 0; stalls <= 1; stalls++) {
        struct trace *trace = put_round();
        struct builder_queue queue;
        const struct facts *facts = builder_queue_facts(&queue, "give", 10, "take", 20);
        bool ever = stalls;
        struct modelgen_options options = {.try_out = stalls_by_chance, .context = &ever};
        struct error error = {0};
        struct model *model = modelgen_build(trace, facts, NULL, &options, &error);
        assert_non_null(model);
        assert_int_equal(ordered_put(model) != NULL, stalls);
        model_free(model);
        trace_free(trace);
    }
}

/* Of several that do not meet, each decides for itself. */
static void threads_that_differ_have_none(void **state) {
    (void)state;
    decide();
    struct trace *trace = builder_new_with_workers(2);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    builder_create(trace, 0, 1, 0, create, 1);
    builder_create(trace, 0, 2, 0, create, 2);
    go_round(trace, 1, "worker");
    goes_left[ROUNDS / 2] = !goes_left[ROUNDS / 2];
    go_round(trace, 2, "worker");
    builder_finish(trace, 2000 * (ROUNDS + 2));
    struct model *model = builder_model(trace, NULL);
    assert_int_equal(fork_of(model)->n_course, 0);
    model_free(model);
}

/* Threads that are made for a round begin alike in it: here left in the first, right in the
 * second. */
static struct trace *rounds_of_two(bool alike) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 901, "main", 901);
    for (int round = 0; round < 2; round++) {
        uint64_t at_ns = 10000 * (uint64_t)(round + 1);
        for (int i = 0; i < 2; i++) {
            int thread = builder_thread(trace, "worker", 0);
            builder_create(trace, 0, at_ns + (uint64_t)i, 0, create, thread);
            bool left = alike ? round == 0 : round == i;
            nap(trace, thread, left ? "left" : "right", "worker", at_ns + 1000);
        }
        for (int i = 0; i < 2; i++)
            builder_join(trace, 0, at_ns + 4000 + (uint64_t)i, 1, join, 2 * round + i + 1);
    }
    builder_finish(trace, 40000);
    builder_life(trace, 0, 0, 40000);
    for (int t = 1; t <= 4; t++)
        builder_life(trace, t, t <= 2 ? 10000 : 20000, t <= 2 ? 14000 : 24000);
    return trace;
}

static void threads_of_a_round_begin_alike(void **state) {
    (void)state;
    for (int alike = 0; alike <= 1; alike++) {
        struct model *model = builder_model(rounds_of_two(alike), NULL);
        for (size_t n = 0; n < model->n_nodes; n++)
            if (model->nodes[n].kind == NODE_START && model->nodes[n].n_edges > 1)
                assert_int_equal(model->nodes[n].n_course, alike ? 4 : 0);
        size_t starts = 0;
        for (size_t n = 0; n < model->n_nodes; n++)
            starts += model->nodes[n].kind == NODE_START && model->nodes[n].n_edges > 1;
        assert_int_equal(starts, 1);
        model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_alone_decides_as_it_did),
        cmocka_unit_test(the_order_behind_puts_is_kept_where_the_model_stalls_without),
        cmocka_unit_test(threads_that_differ_have_none),
        cmocka_unit_test(threads_of_a_round_begin_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
