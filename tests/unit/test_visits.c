/* cli/difference/visits and visit_tests: what threads do from place to place, and where two runs
 * differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "cli/difference/visit_tests.h"
#include "tests/unit/trace_builder.h"

static void close_to(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%g is not %g", value, expected);
}

/* So many rounds: a lock in f() that waits for `wait_ns` and computes for 1000 ns. */
static struct trace *build_run(int rounds, uint64_t wait_ns) {
    struct trace *trace = builder_new(1);
    int thread = builder_thread(trace, "main", -1);
    uint32_t at_lock = builder_context(trace, "f", 10, "main", 1);
    uint32_t at_unlock = builder_context(trace, "f", 20, "main", 1);
    uint64_t now_ns = 1000;
    for (int i = 0; i < rounds; i++) {
        builder_call(trace, thread, "pthread_mutex_lock", now_ns, now_ns + wait_ns, 8, at_lock);
        now_ns += wait_ns + 600;
        builder_call(trace, thread, "pthread_mutex_unlock", now_ns, now_ns, 8, at_unlock);
        now_ns += 400;
    }
    builder_finish(trace, now_ns);
    return trace;
}

static void visits_last_until_the_next_place(void **state) {
    (void)state;
    struct trace *trace = build_run(3, 500);
    struct visits visits = visits_of_trace(trace, NULL, 2);
    const struct visited *lock = visits_find(&visits, "f (t.c:10)");
    const struct visited *unlock = visits_find(&visits, "f (t.c:20)");
    assert_non_null(lock);
    assert_non_null(unlock);
    assert_null(visits_find(&visits, "f (t.c:30)"));
    assert_int_equal(lock->parts[VISIT_WAITS].count, 3);
    assert_int_equal(unlock->parts[VISIT_WAITS].count, 3);
    close_to(lock->first_ns, 1000, 0);
    close_to(lock->parts[VISIT_WAITS].items[1], 500, 0);
    close_to(lock->parts[VISIT_COMPUTES].items[1], 2 * 600, 0);
    close_to(unlock->parts[VISIT_COMPUTES].items[0], 2 * 400, 0);
    visits_free(&visits);
    trace_free(trace);
}

/* Where the model has no place, time belongs to the one before; of a chain the innermost that it
 * has counts. */
static void unknown_places_belong_to_the_one_before(void **state) {
    (void)state;
    struct trace *trace = build_run(3, 500);
    struct visits model = {.index = MAP_EMPTY};
    *VECTOR_ADD(&model) = (struct visited){.place = memory_strdup("f (t.c:10)")};
    map_put(&model.index, map_mix_text(1, "f (t.c:10)"), 0);
    struct visits visits = visits_of_trace(trace, &model, 1);
    const struct visited *lock = visits_find(&visits, "f (t.c:10)");
    assert_int_equal(lock->parts[VISIT_COMPUTES].count, 3);
    close_to(lock->parts[VISIT_COMPUTES].items[0], 1000, 0);
    assert_null(visits_find(&visits, "f (t.c:20)"));
    visits_free(&model);
    visits_free(&visits);
    trace_free(trace);
}

static const struct visit_test *find(const struct visit_tests *tests, const char *place,
                                     enum visit_part part) {
    for (size_t i = 0; i < tests->count; i++)
        if (strcmp(tests->items[i].place, place) == 0 && tests->items[i].part == part)
            return &tests->items[i];
    fail_msg("no %s", place);
    return NULL;
}

static void what_differs_is_found(void **state) {
    (void)state;
    struct trace *traces[2] = {build_run(50, 500), build_run(50, 1500)};
    struct visits before = visits_of_trace(traces[0], NULL, 1);
    struct visits after = visits_of_trace(traces[1], NULL, 1);
    struct visit_tests tests = visit_tests_make(&before, &after, 0.01, false);
    const struct visit_test *lock = find(&tests, "f (t.c:10)", VISIT_WAITS);
    assert_true(lock == &tests.items[0]);
    assert_true(lock->differs);
    close_to(lock->distance, 1, 0);
    close_to(lock->share, 50 * 1000.0 / before.threads_ns, 1e-9);
    close_to(lock->after.p95_ns, 1500, 0);
    assert_false(find(&tests, "f (t.c:10)", VISIT_COMPUTES)->differs);
    assert_false(find(&tests, "f (t.c:20)", VISIT_WAITS)->differs);
    free(tests.items);
    tests = visit_tests_make(&before, &before, 0, true);
    for (size_t i = 0; i < tests.count; i++)
        assert_false(tests.items[i].differs);
    assert_string_equal(tests.items[0].place, "(begin)");
    free(tests.items);
    visits_free(&before);
    visits_free(&after);
    trace_free(traces[0]);
    trace_free(traces[1]);
}

/* 1.36 over the root of nm / (n + m) is the distance of the level 5 % in every table. */
static void the_statistic_has_its_known_levels(void **state) {
    (void)state;
    close_to(visit_test_ks(1.358 / sqrt(5000), 10000, 10000), 0.05, 0.002);
    close_to(visit_test_ks(1.628 / sqrt(5000), 10000, 10000), 0.01, 0.001);
    close_to(visit_test_ks(0, 10, 10), 1, 0);
    close_to(visit_test_ks(1, 100, 100), 0, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_last_until_the_next_place),
        cmocka_unit_test(unknown_places_belong_to_the_one_before),
        cmocka_unit_test(what_differs_is_found),
        cmocka_unit_test(the_statistic_has_its_known_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
