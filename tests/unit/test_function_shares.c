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
#include "formats/sample.h"
#include "tests/unit/steps_builder.h"

enum { LOCKS, UNLOCKS };
enum { ROUNDS = 10, OUTSIDE_NS = 100, HELD_NS = 10 };

/* run() calls score(), which makes no calls, and book(), which locks and unlocks: 100 ns until it
 * locks, of which both may have their share, and 10 ns with the lock, ten times. */
static struct dependencies *booking(void) {
    static const struct steps_names names = {.threads = {"run"},
                                             .places = {"book", "book"},
                                             .root = "run",
                                             .objects = {{.kind = "mutex", .name = "lock"}}};
    struct dependencies *all = steps_new(&names, 1);
    uint64_t now_ns = 0;
    for (int i = 0; i < ROUNDS; i++) {
        now_ns += OUTSIDE_NS;
        steps_act(all, 0, LOCKS, STEP_COMPUTE, now_ns, OPERATION_LOCK, 0);
        now_ns += HELD_NS;
        steps_act(all, 0, UNLOCKS, STEP_COMPUTE, now_ns, OPERATION_UNLOCK, 0)->object = 0;
    }
    return all;
}

/* In how many samples each of them computes; all 0: nothing was sampled. */
struct found {
    uint64_t in_run, in_score, in_book;
    char *run; /* what samples call run(), NULL: "run" */
};

/* What the run takes without the function, of which so many steps were. */
static struct what_if without(const char *function, struct found found, size_t *n_steps) {
    struct sample_node nodes[] = {
        {.parent = -1, .function = found.run ? found.run : "run", .running = found.in_run},
        {.function = "score", .running = found.in_score},
        {.function = "book", .running = found.in_book}};
    struct sample sampled = {.n_nodes = sizeof nodes / sizeof *nodes, .nodes = nodes};
    struct dependencies *all = booking();
    if (found.in_run + found.in_score + found.in_book > 0)
        all->sampled = &sampled;
    struct scale gone = {.of = SCALE_COMPUTING, .name = function};
    struct what_if predicted = critical_path_predict(all, &gone, 1, 0);
    *n_steps = gone.n_steps;
    dependencies_free(all);
    return predicted;
}

static void assert_near(double found, double wanted) {
    assert_true(fabs(found - wanted) < 1e-6);
}

static void without_samples_all_before_a_call_counts_and_that_is_open(void **state) {
    (void)state;
    size_t n;
    struct what_if predicted = without("book", (struct found){.in_run = 0}, &n);
    assert_near(predicted.as_recorded_ns, 0);
    assert_near(predicted.least_ns, ROUNDS * OUTSIDE_NS);
    without("score", (struct found){.in_run = 0}, &n);
    assert_int_equal(n, 0);
}

/* book() was found 500 of 1100 ns: 100 with the lock, so 400 before it. */
static void samples_tell_how_much_of_it_is_the_functions(void **state) {
    (void)state;
    size_t n;
    struct what_if predicted = without("book", (struct found){.in_score = 600, .in_book = 500}, &n);
    assert_near(predicted.as_recorded_ns, 600);
    assert_near(predicted.rescheduled_ns, 600);
    assert_true(predicted.least_ns > 600 && predicted.least_ns < 650);
    assert_true(predicted.most_ns < 600 && predicted.most_ns > 550);
}

/* And score() the rest, none of it with the lock. */
static void a_function_without_calls_has_its_share(void **state) {
    (void)state;
    size_t n;
    struct what_if predicted =
        without("score", (struct found){.in_score = 600, .in_book = 500}, &n);
    assert_near(predicted.as_recorded_ns, 500);
    assert_int_equal(n, ROUNDS);
}

/* Of fewer samples less is known. */
static void few_samples_leave_more_open(void **state) {
    (void)state;
    size_t n;
    struct what_if predicted = without("score", (struct found){.in_score = 6, .in_book = 5}, &n);
    assert_near(predicted.as_recorded_ns, 500);
    assert_true(predicted.least_ns > 700);
    assert_true(predicted.most_ns < 300);
}

/* Where run() has its name, book() would have it: it took what lies between its calls, and hardly
 * more. */
static void a_function_that_samples_never_met_hardly_computes(void **state) {
    (void)state;
    size_t n;
    struct what_if predicted = without("book", (struct found){.in_run = 1000, .in_score = 100}, &n);
    assert_near(predicted.as_recorded_ns, ROUNDS * OUTSIDE_NS);
    assert_true(predicted.most_ns <= predicted.as_recorded_ns);
    assert_true(predicted.least_ns >= predicted.as_recorded_ns);
}

/* Samples without its caller's name may have another one for book(), too. */
static void a_name_that_no_sample_can_have_is_as_without(void **state) {
    (void)state;
    size_t n;
    struct what_if predicted =
        without("book", (struct found){.in_run = 1000, .in_score = 100, .run = "0x1139"}, &n);
    assert_near(predicted.as_recorded_ns, 0);
    assert_near(predicted.least_ns, ROUNDS * OUTSIDE_NS);
}

/* Without samples book() has all before its calls, which is all that is computed. */
static void the_parts_are_all_that_was_computed(void **state) {
    (void)state;
    const bool counts[] = {[LOCKS] = true, [UNLOCKS] = true};
    struct dependencies *all = booking();
    size_t n;
    struct function_part *parts = critical_path_function_parts(all, "book", counts, &n);
    double all_ns = 0, function_ns = 0;
    for (size_t i = 0; i < n; i++) {
        all_ns += parts[i].all_ns;
        function_ns += parts[i].function_ns;
    }
    assert_int_equal(n, 3); /* from the start, from unlocking to locking, and back */
    assert_near(all_ns, ROUNDS * (OUTSIDE_NS + HELD_NS));
    assert_near(function_ns, all_ns);
    free(parts);
    dependencies_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_samples_all_before_a_call_counts_and_that_is_open),
        cmocka_unit_test(samples_tell_how_much_of_it_is_the_functions),
        cmocka_unit_test(a_function_without_calls_has_its_share),
        cmocka_unit_test(few_samples_leave_more_open),
        cmocka_unit_test(a_function_that_samples_never_met_hardly_computes),
        cmocka_unit_test(a_name_that_no_sample_can_have_is_as_without),
        cmocka_unit_test(the_parts_are_all_that_was_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
