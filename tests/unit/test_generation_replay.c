/* Each opening lets every thread go on once; on traces written by hand. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/monitor_search.h"
#include "tests/unit/explanations_by.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, ROUNDS = 20, ROUND_NS = 1000 };

static void open_round(struct trace *trace, uint64_t start) {
    builder_section(trace, 0,
                    (struct builder_section){.function = "conduct",
                                             .line = 10,
                                             .caller = "main",
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .signals_after = CONDITION,
                                             .broadcasts = true,
                                             .end_ns = start + 2});
}

/* `woken` 0: it does not have to wait. */
static void await_round(struct trace *trace, int thread, uint64_t start, uint64_t woken) {
    builder_section(trace, thread,
                    (struct builder_section){.function = "play",
                                             .line = 20,
                                             .caller = "player",
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .waits_for = woken ? CONDITION : 0,
                                             .woken_ns = woken});
}

/* Two players wait for each round. The second one goes on so late (`late_ns` after the opening)
 * that the first one, which waits again after 300 ns, may be there before. `taken`: it finds the
 * round open then, once, as if the opening had been for whoever comes. */
static struct trace *rounds_of_two_players(uint64_t late_ns, bool taken) {
    struct trace *trace = builder_new(4);
    for (int i = 0; i < 3; i++) {
        builder_thread(trace, i ? "player" : "main", i ? 0 : -1);
        builder_run(trace, i, (uint32_t)i, 0, 0, (ROUNDS + 2) * ROUND_NS, false);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t opened = (round + 1) * ROUND_NS;
        open_round(trace, opened);
        await_round(trace, 1, opened - 700, opened + 10);
        if (taken && round % 2 == 0)
            await_round(trace, 1, opened + 100, 0);
        await_round(trace, 2, opened - (round ? 1000 - late_ns - 20 : 600), opened + late_ns);
    }
    builder_finish(trace, (ROUNDS + 2) * ROUND_NS);
    return trace;
}

static size_t count_rounds(struct trace *trace, const struct facts *facts) {
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, facts, NULL);
    size_t found = 0;
    for (size_t p = 0; p < count_by(&monitors, BY_PATTERN); p++) {
        const struct explanation *pattern = number_by(&monitors, BY_PATTERN, p);
        found += pattern->pattern.in_rounds;
        for (size_t s = 0; pattern->pattern.in_rounds && s < sections.n_sections; s++)
            assert_int_equal(pattern->pattern.acts[s],
                             sections.sections[s].thread == 0 ? ACT_PASS : ACT_TURN);
    }
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
    return found;
}

static void who_is_early_does_not_take_the_others_round(void **state) {
    (void)state;
    assert_int_equal(count_rounds(rounds_of_two_players(400, false), NULL), 1);
}

/* Then a counter says the same, and may say more. */
static void where_nobody_was_early_there_are_no_rounds(void **state) {
    (void)state;
    assert_int_equal(count_rounds(rounds_of_two_players(20, false), NULL), 0);
}

/* while (bar < next), where `next` is the thread's own: the source knows better. */
static void who_waits_for_a_number_of_its_own_waits_for_rounds(void **state) {
    (void)state;
    struct facts_variable next = {.name = "local:play.next", .local = true};
    struct facts_operation wait = {FACTS_WAIT, {.file = "t.c", .function = "play", .line = 20}};
    struct facts_monitor event = {.kind = MONITOR_EVENT,
                                  .name = "global:hall",
                                  .n_operations = 1,
                                  .operations = &wait,
                                  .n_variables = 1,
                                  .variables = &next};
    const struct facts facts = {.n_monitors = 1, .monitors = &event};
    assert_int_equal(count_rounds(rounds_of_two_players(20, false), &facts), 1);
    assert_int_equal(count_rounds(rounds_of_two_players(20, true), &facts), 0);
    next.local = false;
    assert_int_equal(count_rounds(rounds_of_two_players(20, false), &facts), 0);
}

static void who_goes_on_twice_by_one_opening_contradicts(void **state) {
    (void)state;
    assert_int_equal(count_rounds(rounds_of_two_players(400, true), NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_early_does_not_take_the_others_round),
        cmocka_unit_test(where_nobody_was_early_there_are_no_rounds),
        cmocka_unit_test(who_waits_for_a_number_of_its_own_waits_for_rounds),
        cmocka_unit_test(who_goes_on_twice_by_one_opening_contradicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
