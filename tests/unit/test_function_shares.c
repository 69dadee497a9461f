/* What lies between two calls, shared out among functions by samples: steps and stacks written by
 * hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "formats/dependencies.h"
#include "formats/sample.h"

#define NONE DEPENDENCIES_NONE

enum { LOCKS, UNLOCKS, PLACES };
enum { ROUNDS = 10, OUTSIDE_NS = 100, HELD_NS = 10 };

/* run() calls score(), which makes no calls, and book(), which locks and unlocks: 100 ns until it
 * locks, of which both may have their share, and 10 ns with the lock, ten times. */
static struct dependencies *booking(void) {
    struct dependencies *all = memory_alloc(1, sizeof *all);
    *all = (struct dependencies){.cores = 1,
                                 .has_cores = true,
                                 .has_operations = true,
                                 .n_threads = 1,
                                 .n_places = PLACES,
                                 .n_objects = 1};
    all->threads = memory_alloc(1, sizeof *all->threads);
    all->threads[0].name = memory_strdup("run");
    all->objects = memory_alloc(1, sizeof *all->objects);
    all->objects[0] =
        (struct dependency_object){memory_strdup("mutex"), memory_strdup("lock"), false, 0};
    all->places = memory_alloc(PLACES, sizeof *all->places);
    for (int p = 0; p < PLACES; p++) {
        all->places[p].n_frames = 2;
        all->places[p].frames = memory_alloc(2, sizeof *all->places[p].frames);
        all->places[p].frames[0] = (struct dependency_frame){memory_strdup("book"), NULL, 10 + p};
        all->places[p].frames[1] = (struct dependency_frame){memory_strdup("run"), NULL, 20};
    }
    all->steps = memory_alloc(2 * ROUNDS, sizeof *all->steps);
    uint64_t now_ns = 0;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        bool locks = i % 2 == 0;
        now_ns += locks ? OUTSIDE_NS : HELD_NS;
        all->steps[all->n_steps++] =
            (struct dependency_step){.end_ns = now_ns,
                                     .kind = STEP_COMPUTE,
                                     .place = locks ? LOCKS : UNLOCKS,
                                     .object = locks ? NONE : 0,
                                     .cause = NONE,
                                     .limit = NONE,
                                     .operand = 0,
                                     .operation = locks ? OPERATION_LOCK : OPERATION_UNLOCK};
    }
    all->run_ns = now_ns;
    return all;
}

enum { IN_RUN, IN_SCORE, IN_BOOK, NODES };

static struct sample stacks(struct sample_node nodes[NODES], uint64_t in_run, uint64_t in_score,
                            uint64_t in_book) {
    nodes[IN_RUN] = (struct sample_node){.parent = -1, .function = "run", .running = in_run};
    nodes[IN_SCORE] = (struct sample_node){.function = "score", .running = in_score};
    nodes[IN_BOOK] = (struct sample_node){.function = "book", .running = in_book};
    return (struct sample){.n_nodes = NODES, .nodes = nodes};
}

static struct what_if without(const struct dependencies *all, const char *function, size_t *n) {
    struct scale gone = {.of = SCALE_COMPUTING, .name = function};
    struct what_if predicted = critical_path_predict(all, &gone, 1, 0);
    *n = gone.n_steps;
    return predicted;
}

static void assert_near(double found, double wanted) {
    assert_true(fabs(found - wanted) < 1e-6);
}

static void without_samples_all_before_a_call_counts_and_that_is_open(void **state) {
    (void)state;
    struct dependencies *all = booking();
    size_t n;
    struct what_if predicted = without(all, "book", &n);
    assert_near(predicted.as_recorded_ns, 0);
    assert_near(predicted.least_ns, ROUNDS * OUTSIDE_NS);
    without(all, "score", &n);
    assert_int_equal(n, 0);
    dependencies_free(all);
}

/* book() was found 500 of 1100 ns: 100 with the lock, so 400 before it. */
static void samples_tell_how_much_of_it_is_the_functions(void **state) {
    (void)state;
    struct dependencies *all = booking();
    struct sample_node nodes[NODES];
    struct sample sampled = stacks(nodes, 0, 600, 500);
    size_t n;
    all->sampled = &sampled;
    struct what_if predicted = without(all, "book", &n);
    assert_near(predicted.as_recorded_ns, 600);
    assert_near(predicted.rescheduled_ns, 600);
    assert_true(predicted.least_ns > 600 && predicted.least_ns < 650);
    assert_true(predicted.most_ns < 600 && predicted.most_ns > 550);
    dependencies_free(all);
}

/* And score() the rest, none of it with the lock. */
static void a_function_without_calls_has_its_share(void **state) {
    (void)state;
    struct dependencies *all = booking();
    struct sample_node nodes[NODES];
    struct sample sampled = stacks(nodes, 0, 600, 500);
    size_t n;
    all->sampled = &sampled;
    struct what_if predicted = without(all, "score", &n);
    assert_near(predicted.as_recorded_ns, 500);
    assert_int_equal(n, ROUNDS);
    dependencies_free(all);
}

/* Of fewer samples less is known. */
static void few_samples_leave_more_open(void **state) {
    (void)state;
    struct dependencies *all = booking();
    struct sample_node nodes[NODES];
    struct sample sampled = stacks(nodes, 0, 6, 5);
    size_t n;
    all->sampled = &sampled;
    struct what_if predicted = without(all, "score", &n);
    assert_near(predicted.as_recorded_ns, 500);
    assert_true(predicted.least_ns > 700);
    assert_true(predicted.most_ns < 300);
    dependencies_free(all);
}

static void a_name_that_no_sample_has_is_as_without(void **state) {
    (void)state;
    struct dependencies *all = booking();
    struct sample_node nodes[NODES];
    struct sample sampled = stacks(nodes, 1000, 100, 0);
    size_t n;
    all->sampled = &sampled;
    assert_near(without(all, "book", &n).as_recorded_ns, 0);
    assert_near(without(all, "book", &n).least_ns, ROUNDS * OUTSIDE_NS);
    dependencies_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_samples_all_before_a_call_counts_and_that_is_open),
        cmocka_unit_test(samples_tell_how_much_of_it_is_the_functions),
        cmocka_unit_test(a_function_without_calls_has_its_share),
        cmocka_unit_test(few_samples_leave_more_open),
        cmocka_unit_test(a_name_that_no_sample_has_is_as_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
