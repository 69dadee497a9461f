/* Whoever comes first does the work of all who have come; on traces written by hand. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "modelgen/sync/group_commit_cost.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/monitor_search.h"
#include "tests/unit/explanations_by.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, ROUNDS = 40, ALONE = 30, EACH = 20 };

static uint64_t own_condition(int thread) {
    return CONDITION + 0x40 * (uint64_t)thread;
}

/* A section that comes: to wait until `woken` (0: not at all) at the thread's own condition. */
static void come(struct trace *trace, int thread, uint64_t start, uint64_t woken) {
    builder_section(trace, thread,
                    (struct builder_section){.function = "commit",
                                             .line = 10,
                                             .caller = "worker",
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .waits_for = woken ? own_condition(thread) : 0,
                                             .woken_ns = woken,
                                             .end_ns = woken ? woken + 1 : start + 2});
}

/* A section that tells a waiting thread (-1: nobody) that it is done. */
static void tell(struct trace *trace, int thread, uint64_t start, int told) {
    builder_section(trace, thread,
                    (struct builder_section){.function = "commit",
                                             .line = 20,
                                             .caller = "worker",
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .signals_after = told < 0 ? 0 : own_condition(told),
                                             .end_ns = start + 4});
}

/* Thread 1 comes first and leads itself; meanwhile 2 and, in two of three rounds, 3 have come: 2
 * leads both. `in_vain`: who was led does it again by itself. */
static struct trace *rounds_of_commits(bool in_vain) {
    struct trace *trace = builder_new(4);
    for (int i = 0; i < 4; i++) {
        builder_thread(trace, i ? "worker" : "main", i ? 0 : -1);
        builder_run(trace, i, (uint32_t)i, 0, 0, (ROUNDS + 1) * 1000, false);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t at = (round + 1) * 1000, alone = at + 2 + ALONE;
        bool has_third = round % 3 > 0;
        uint64_t both = alone + 10 + ALONE + (has_third ? EACH : 0);
        come(trace, 1, at, 0);
        tell(trace, 1, alone, 2);
        come(trace, 2, at + 5, alone + 8);
        tell(trace, 2, both, has_third ? 3 : -1);
        if (has_third) {
            come(trace, 3, at + 10, both + 8);
            if (in_vain)
                tell(trace, 3, both + 20, -1);
        }
    }
    builder_finish(trace, (ROUNDS + 1) * 1000);
    return trace;
}

static void who_leads_does_the_work_of_all_who_have_come(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commits(false);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_PATTERN), 1);
    const struct explanation *pattern = number_by(&monitors, BY_PATTERN, 0);
    assert_true(pattern->pattern.in_groups);
    assert_true(pattern->tally.violations == 0);
    size_t led = 0, leading = 0;
    for (size_t s = 0; s < sections.n_sections; s++) {
        bool is_led = pattern->pattern.acts[s] & ACT_LED;
        assert_int_equal(is_led, sections.sections[s].thread == 3);
        assert_int_equal(pattern->pattern.led[s] > 0, sections.sections[s].thread == 2 &&
                                                          (pattern->pattern.acts[s] & ACT_TURN) &&
                                                          pattern->pattern.led[s] == 1);
        led += is_led;
        leading += pattern->pattern.led[s];
    }
    assert_int_equal(led, ROUNDS * 2 / 3);
    assert_int_equal(leading, led);
    assert_true(pattern->pattern.led_cpu_ns > EACH - 2 && pattern->pattern.led_cpu_ns < EACH + 2);
    struct excluded_time losses = group_commit_cost_excluded(trace, &sections, &monitors);
    double lost_ns = 0;
    for (size_t i = 0; i < losses.count; i++)
        lost_ns +=
            losses.items[i].share * (double)(losses.items[i].to_ns - losses.items[i].from_ns);
    assert_true(lost_ns > 0.99 * pattern->pattern.led_cpu_ns * (double)led &&
                lost_ns < 1.01 * pattern->pattern.led_cpu_ns * (double)led);
    free(losses.items);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void who_does_all_by_himself_is_not_led(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commits(true);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    for (size_t p = 0; p < count_by(&monitors, BY_PATTERN); p++)
        assert_false(number_by(&monitors, BY_PATTERN, p)->pattern.in_groups);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void who_was_led_goes_another_way_in_the_model(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commits(false);
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_non_null(model);
    bool any_yes = false, any_no = false;
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; model->nodes[n].kind == NODE_TURN && e < model->nodes[n].n_edges; e++) {
            any_yes |= model->nodes[n].edges[e].when == OUTCOME_YES;
            any_no |= model->nodes[n].edges[e].when == OUTCOME_NO;
        }
    assert_true(any_yes && any_no);
    model_free(model);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_leads_does_the_work_of_all_who_have_come),
        cmocka_unit_test(who_does_all_by_himself_is_not_led),
        cmocka_unit_test(who_was_led_goes_another_way_in_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
