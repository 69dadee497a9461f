/* Sections that add several at once, as many as their call site says; on traces written by hand. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/sync/monitor.h"
#include "modelgen/sync/monitor_search.h"
#include "tests/unit/explanations_by.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, SITE = 200, OTHER_SITE = 300 };

static uint64_t which; /* of the mutexes that are alike */

/* A critical section of a function called at a site; waits until `woken` (0: not at all). */
static void section(struct trace *trace, int thread, const char *function, int line, int site,
                    uint64_t start, uint64_t woken, bool signals) {
    builder_section(trace, thread,
                    (struct builder_section){.function = function,
                                             .line = line,
                                             .caller = thread ? "worker" : "main",
                                             .caller_line = site,
                                             .mutex = MUTEX + which,
                                             .start_ns = start,
                                             .waits_for = woken ? CONDITION + which : 0,
                                             .woken_ns = woken,
                                             .signals_after = signals ? CONDITION + which : 0});
}

/* Main says how many parts are to come, the workers finish one after the other, and the last one
 * tells. Main comes at once, or when it is too late to wait. Gives when the round is over. */
static uint64_t add_round(struct trace *trace, int site, int parts, bool late, uint64_t at) {
    section(trace, 0, "expect", 10, site, at, 0, false);
    uint64_t last = at + 10 * (uint64_t)(parts + 1);
    for (int i = 0; i < parts; i++)
        section(trace, 1 + (int)(at / 20 + (uint64_t)i) % 2, "finish", 20, 500,
                at + 20 + 10 * (uint64_t)i, 0, i == parts - 1);
    if (late)
        section(trace, 0, "settle", 30, 400, last + 10, 0, false);
    else
        section(trace, 0, "settle", 30, 400, at + 10, last + 5, false);
    return last + 20;
}

/* The traces all do; what a test has chosen ends with it. */
static struct monitors find(const struct trace *trace, struct sections *sections) {
    which = 0;
    *sections = sections_find(trace, builder_no_pools);
    return monitors_find(trace, sections, NULL, NULL);
}

static const struct section_class *class_at_site(const struct trace *trace,
                                                 const struct monitors *monitors,
                                                 const char *function, int site, size_t *index) {
    for (*index = 0; *index < monitors->n_classes; ++*index) {
        const struct section_class *class = &monitors->classes[*index];
        if (strcmp(class->function, function) == 0 &&
            trace->contexts[class->context].frames[1].line == site)
            return class;
    }
    fail_msg("no section of %s", function);
    return NULL;
}

static void how_much_a_call_site_adds_at_once_follows_from_what_is_used_up(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    uint64_t at = 1000;
    for (int round = 0; round < 30; round++) {
        at = add_round(trace, SITE, 3, round % 4 == 0, at);
        if (round % 3 == 0)
            at = add_round(trace, OTHER_SITE, 17, round % 2 == 0, at);
    }
    builder_finish(trace, at);
    struct sections sections;
    struct monitors monitors = find(trace, &sections);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 1);
    const struct explanation *guard = number_by(&monitors, BY_COUNTER, 0);
    assert_int_equal(guard->counter.kind, GUARD_LEVEL);
    assert_true(guard->tally.violations == 0);
    assert_true(guard->tally.waited == 22 + 5);
    size_t index;
    class_at_site(trace, &monitors, "expect", SITE, &index);
    assert_int_equal(guard->counter.weight[index], -3);
    class_at_site(trace, &monitors, "expect", OTHER_SITE, &index);
    assert_int_equal(guard->counter.weight[index], -17);
    class_at_site(trace, &monitors, "finish", 500, &index);
    assert_int_equal(guard->counter.weight[index], 1);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void a_call_site_that_adds_now_more_now_less_has_no_amount(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    uint64_t at = 1000;
    for (int round = 0; round < 24; round++)
        at = add_round(trace, SITE, round % 3 == 0 ? 2 : 15, round % 4 == 0, at);
    builder_finish(trace, at);
    struct sections sections;
    struct monitors monitors = find(trace, &sections);
    for (size_t g = 0; g < count_by(&monitors, BY_COUNTER); g++)
        for (size_t c = 0; c < monitors.n_classes; c++)
            assert_in_range(abs(number_by(&monitors, BY_COUNTER, g)->counter.weight[c]), 0, 1);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void objects_in_use_one_after_the_other_are_as_good_as_one(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    uint64_t at = 1000;
    for (int round = 0; round < 30; round++) {
        which = 0x100 * (uint64_t)(round % 4);
        at = add_round(trace, SITE, 3, round % 4 == 0, at);
        at = add_round(trace, OTHER_SITE, 7, round % 5 == 0, at);
    }
    builder_finish(trace, at);
    struct sections sections;
    struct monitors monitors = find(trace, &sections);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 1);
    assert_true(number_by(&monitors, BY_COUNTER, 0)->counter.as_one);
    assert_true(number_by(&monitors, BY_COUNTER, 0)->tally.violations == 0);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* The worker finishes first what it got last. */
static void objects_in_use_side_by_side_are_not_one(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    uint64_t at = 1000;
    for (int round = 0; round < 30; round++, at += 500) {
        which = 0x100;
        section(trace, 0, "expect", 10, SITE, at, 0, false);
        which = 0;
        section(trace, 0, "expect", 10, SITE, at + 5, 0, false);
        for (uint64_t i = 0; i < 3; i++)
            section(trace, 1, "finish", 20, 500, at + 20 + 10 * i, 0, i == 2);
        if (round % 3 == 0)
            section(trace, 0, "settle", 30, 400, at + 60, 0, false);
        else
            section(trace, 0, "settle", 30, 400, at + 10, at + 45, false);
        which = 0x100;
        for (uint64_t i = 0; i < 3; i++)
            section(trace, 1, "finish", 20, 500, at + 120 + 10 * i, 0, i == 2);
        section(trace, 0, "settle", 30, 400, at + 100, at + 145, false);
    }
    builder_finish(trace, at);
    struct sections sections;
    struct monitors monitors = find(trace, &sections);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 0);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Somebody takes one at a time of what is put there in rows of two or of five. */
static void what_takers_find_in_rows_follows_from_when_they_found_nothing(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    uint64_t at = 1000;
    for (int round = 0; round < 24; round++) {
        bool is_long = round % 2 == 0 || round % 5 == 0;
        section(trace, 0, "put_row", 10, is_long ? SITE : OTHER_SITE, at, 0, true);
        section(trace, 1, "take", 20, 500, at - 50, at + 5, false);
        for (int i = 1; i < (is_long ? 5 : 2); i++)
            section(trace, 1, "take", 20, 500, at + 10 * (uint64_t)i, 0, false);
        at += 200;
    }
    builder_finish(trace, at);
    struct sections sections;
    struct monitors monitors = find(trace, &sections);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 1);
    const struct explanation *guard = number_by(&monitors, BY_COUNTER, 0);
    assert_int_equal(guard->counter.kind, GUARD_QUEUE);
    assert_true(guard->tally.violations == 0);
    size_t index;
    class_at_site(trace, &monitors, "put_row", SITE, &index);
    assert_int_equal(guard->counter.weight[index], 5);
    class_at_site(trace, &monitors, "put_row", OTHER_SITE, &index);
    assert_int_equal(guard->counter.weight[index], 2);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_much_a_call_site_adds_at_once_follows_from_what_is_used_up),
        cmocka_unit_test(a_call_site_that_adds_now_more_now_less_has_no_amount),
        cmocka_unit_test(objects_in_use_one_after_the_other_are_as_good_as_one),
        cmocka_unit_test(objects_in_use_side_by_side_are_not_one),
        cmocka_unit_test(what_takers_find_in_rows_follows_from_when_they_found_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
