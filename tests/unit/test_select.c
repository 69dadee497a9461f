/* Candidates for the waits under one mutex compete by one score. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/sync/guards.h"
#include "modelgen/sync/monitor_search.h"
#include "modelgen/sync/pattern_replay.h"
#include "modelgen/sync/select.h"
#include "tests/unit/explanations_by.h"
#include "tests/unit/trace_builder.h"

/* ---- the score ---- */

static bool wins(struct score score, struct score over) {
    return score_is_better(&score, &over) && !score_is_better(&over, &score);
}

static void test_what_the_run_contradicts_less_wins(void **state) {
    (void)state;
    assert_true(wins((struct score){.contradictions = 1}, (struct score){.contradictions = 2}));
}

static void test_unexplained_waits_count_like_contradictions(void **state) {
    (void)state;
    assert_true(wins((struct score){.contradictions = 2},
                     (struct score){.contradictions = 1, .unexplained = 2}));
    assert_true(wins((struct score){.unexplained = 2}, (struct score){.contradictions = 3}));
}

static void test_contradictions_beat_simplicity_and_the_sources_word(void **state) {
    (void)state;
    assert_true(wins((struct score){.complexity = 20},
                     (struct score){.contradictions = 1, .complexity = 1, .is_said = true}));
}

static void test_of_equals_the_simpler_one_wins(void **state) {
    (void)state;
    assert_true(wins((struct score){.contradictions = 1, .complexity = 2},
                     (struct score){.unexplained = 1, .complexity = 3, .is_said = true}));
}

static void test_the_sources_word_breaks_ties(void **state) {
    (void)state;
    assert_true(
        wins((struct score){.complexity = 2, .is_said = true}, (struct score){.complexity = 2}));
    struct score score = {.complexity = 2};
    assert_false(score_is_better(&score, &score)); /* the first one stays */
}

/* ---- candidates ---- */

enum { MUTEX = 0x1000, CONDITION = 0x2000, WAITS = 4 };

/* One mutex under which a thread waits four times for another one. */
struct found {
    struct trace *trace;
    struct sections sections;
    struct monitors monitors;
    int mutex, condition;
};

static struct found begin(void) {
    struct found found = {.trace = builder_new(4)};
    for (int t = 0; t < 2; t++)
        builder_thread(found.trace, t ? "waiter" : "main", t ? 0 : -1);
    for (uint64_t i = 0; i < WAITS; i++) {
        builder_section(found.trace, 1,
                        (struct builder_section){.function = "await",
                                                 .line = 10,
                                                 .caller = "waiter",
                                                 .mutex = MUTEX,
                                                 .start_ns = i * 1000 + 100,
                                                 .waits_for = CONDITION,
                                                 .woken_ns = i * 1000 + 520});
        builder_section(found.trace, 0,
                        (struct builder_section){.function = "tell",
                                                 .line = 20,
                                                 .caller = "main",
                                                 .mutex = MUTEX,
                                                 .start_ns = i * 1000 + 500,
                                                 .signals_after = CONDITION});
    }
    builder_finish(found.trace, 10000);
    found.sections = sections_find(found.trace, builder_no_pools);
    found.monitors = monitors_find(found.trace, &found.sections, NULL, NULL);
    found.mutex = found.sections.sections[0].mutex;
    for (size_t i = 0; i < found.monitors.explanations.count; i++)
        explanation_free(&found.monitors.explanations.items[i]);
    found.monitors.explanations.count = found.monitors.rejected.count = 0;
    for (size_t s = 0; s < found.sections.n_sections; s++)
        if (found.sections.sections[s].n_waits > 0)
            found.condition = found.sections.waits[found.sections.sections[s].first_wait].condition;
    return found;
}

static void end(struct found *found) {
    monitors_free(&found->monitors);
    sections_free(&found->sections, found->trace);
    trace_free(found->trace);
}

/* A pattern that explains the first `explained` waits. */
static void add_pattern(struct found *found, enum hand_made_kind kind, double contradictions,
                        size_t explained, double complexity) {
    struct finder finder = {
        .sections = &found->sections, .monitors = &found->monitors, .mutex = found->mutex};
    struct explanation pattern = pattern_empty(&finder, kind);
    pattern.tally.violations = contradictions;
    pattern.score.complexity = complexity;
    for (size_t s = 0; s < found->sections.n_sections && explained > 0; s++)
        if (found->sections.sections[s].n_waits > 0) {
            pattern.pattern.acts[s] = ACT_TURN;
            explained--;
        }
    pattern.pattern.conditions[found->condition] = true;
    explanation_add(&found->monitors, pattern);
}

static void add_counter(struct found *found, double contradictions) {
    const struct monitors *monitors = &found->monitors;
    struct explanation guard = guard_empty(monitors, &found->sections, found->mutex);
    guard.tally.violations = contradictions;
    guard.counter.condition = found->condition;
    guard.score.complexity = 2;
    for (size_t c = 0; c < monitors->n_classes; c++)
        guard.counter.waits[c] = monitors->classes[c].waits > 0;
    explanation_add(&found->monitors, guard);
}

static void test_the_best_candidate_stays_in_whatever_order(void **state) {
    (void)state;
    for (int best_first = 0; best_first < 2; best_first++) {
        struct found found = begin();
        struct selection selection = select_begin(&found.monitors, &found.sections, found.mutex);
        for (int i = 0; i < 2; i++) {
            bool is_best = (i == 0) == best_first;
            add_pattern(&found, is_best ? HAND_MADE_EVENT : HAND_MADE_BARRIER, !is_best, WAITS, 3);
            select_offer(&selection);
        }
        select_offer(&selection); /* nothing new */
        select_end(&selection);
        assert_int_equal(found.monitors.explanations.count, 1);
        assert_int_equal(number_by(&found.monitors, BY_PATTERN, 0)->pattern.kind, HAND_MADE_EVENT);
        assert_int_equal(found.monitors.rejected.count, 1);
        assert_string_equal(found.monitors.rejected.items[0].name, "barrier");
        assert_true(found.monitors.rejected.items[0].is_outdone);
        assert_true(found.monitors.rejected.items[0].score.contradictions == 1);
        end(&found);
    }
}

static void test_what_leaves_waits_open_loses(void **state) {
    (void)state;
    struct found found = begin();
    struct selection selection = select_begin(&found.monitors, &found.sections, found.mutex);
    add_pattern(&found, HAND_MADE_BARRIER, 0, WAITS - 2, 1);
    select_offer(&selection);
    add_pattern(&found, HAND_MADE_EVENT, 1, WAITS, 9);
    select_offer(&selection);
    select_end(&selection);
    assert_int_equal(number_by(&found.monitors, BY_PATTERN, 0)->pattern.kind, HAND_MADE_EVENT);
    assert_true(found.monitors.rejected.items[0].score.unexplained == 2);
    end(&found);
}

static void test_a_contradicted_counter_gives_way_to_a_better_pattern(void **state) {
    (void)state;
    const struct {
        double counter, pattern;
        size_t n_counters, n_patterns;
    } cases[] = {
        {3, 1, 0, 1}, /* the pattern does better */
        {3, 3, 1, 0}, /* neither does: the counter is simpler */
        {1, 2, 1, 0},
        {0, 0, 1, 1}, /* nothing speaks against either */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct found found = begin();
        add_counter(&found, cases[i].counter);
        add_pattern(&found, HAND_MADE_EVENT, cases[i].pattern, WAITS, 5);
        select_settle(&found.monitors, &found.sections, 1);
        assert_int_equal(count_by(&found.monitors, BY_COUNTER), cases[i].n_counters);
        assert_int_equal(count_by(&found.monitors, BY_PATTERN), cases[i].n_patterns);
        assert_int_equal(found.monitors.rejected.count,
                         2 - cases[i].n_counters - cases[i].n_patterns);
        end(&found);
    }
}

/* ---- what is explained ---- */

static void test_a_condition_is_explained_if_all_waits_on_it_are(void **state) {
    (void)state;
    struct found found = begin();
    const struct monitors *monitors = &found.monitors;
    assert_false(monitors_explain_condition(monitors, &found.sections, found.condition, false));
    add_counter(&found, 1);
    assert_true(monitors_explain_condition(monitors, &found.sections, found.condition, false));
    assert_false(monitors_explain_condition(monitors, &found.sections, found.condition, true));
    number_by(monitors, BY_COUNTER, 0)->tally.violations = 0;
    assert_true(monitors_explain_condition(monitors, &found.sections, found.condition, true));
    for (size_t c = 0; c < monitors->n_classes; c++) /* somebody else waits there */
        if (monitors->classes[c].waits > 0)
            number_by(monitors, BY_COUNTER, 0)->counter.waits[c] = false;
    assert_false(monitors_explain_condition(monitors, &found.sections, found.condition, false));
    end(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_run_contradicts_less_wins),
        cmocka_unit_test(test_unexplained_waits_count_like_contradictions),
        cmocka_unit_test(test_contradictions_beat_simplicity_and_the_sources_word),
        cmocka_unit_test(test_of_equals_the_simpler_one_wins),
        cmocka_unit_test(test_the_sources_word_breaks_ties),
        cmocka_unit_test(test_the_best_candidate_stays_in_whatever_order),
        cmocka_unit_test(test_what_leaves_waits_open_loses),
        cmocka_unit_test(test_a_contradicted_counter_gives_way_to_a_better_pattern),
        cmocka_unit_test(test_a_condition_is_explained_if_all_waits_on_it_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
