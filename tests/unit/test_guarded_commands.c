/* The interpreter of guarded commands, on programs written as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "modelgen/sync/command_text.h"

enum { VARIABLES = 4 };

struct fixture {
    struct command_program program;
    struct value shared[VARIABLES], own[VARIABLES];
    struct command_progress progress;
};

static struct fixture begin(const char *variables, const char *operation) {
    struct fixture fixture = {.program = command_program_of_text(variables, &operation, 1),
                              .progress = commands_begin()};
    assert_true(fixture.program.n_variables <= VARIABLES);
    for (size_t v = 0; v < fixture.program.n_variables; v++)
        fixture.shared[v] = fixture.own[v] = fixture.program.initial[v];
    return fixture;
}

static struct command_stop next(struct fixture *fixture) {
    const struct operation *operation = &fixture->program.operations[0];
    return commands_next(operation->commands, operation->n_commands, &fixture->progress,
                         fixture->shared, fixture->own);
}

static void assert_result(const char *expression, double expected) {
    char *text = memory_format("x = %s", expression);
    struct fixture fixture = begin("x y own:z", text);
    fixture.shared[1] = value_of(3);
    fixture.own[2] = value_of(2);
    assert_null(next(&fixture).command);
    if (!fixture.shared[0].known || fixture.shared[0].number != expected)
        fail_msg("%s is %g, not %g", expression, fixture.shared[0].number, expected);
    command_program_free(&fixture.program);
    free(text);
}

static void expressions_bind_as_in_c(void **state) {
    (void)state;
    assert_result("1 + 2 - 3 + 4", 4);
    assert_result("y - z - 1", 0);
    assert_result("y - (z - 1)", 2);
    assert_result("1 + 1 == z", 1);
    assert_result("y <= z || y > z && z == 2", 1);
    assert_result("(y <= z || y > z) && z != 2", 0);
    assert_result("y >= 3", 1);
}

static void updates_reach_shared_and_own_variables(void **state) {
    (void)state;
    struct fixture fixture = begin("x own:mine", "x = x + 1; mine = x + 10; x = mine + x");
    assert_null(next(&fixture).command);
    assert_true(fixture.shared[0].number == 12 && fixture.own[1].number == 11);
    assert_true(fixture.own[0].number == 0);
    command_program_free(&fixture.program);
}

static void a_wait_stops_until_its_predicate_fails(void **state) {
    (void)state;
    struct fixture fixture = begin("x", "x = 5; wait while x > 0; x = 7; broadcast");
    struct command_stop stop = next(&fixture);
    assert_int_equal(stop.command->kind, COMMAND_WAIT);
    assert_true(value_is_true(stop.waits));
    fixture.shared[0] = value_of(0); /* by another thread */
    stop = next(&fixture);
    assert_true(value_is_false(stop.waits));
    fixture.progress.at++;
    stop = next(&fixture);
    assert_int_equal(stop.command->kind, COMMAND_BROADCAST);
    assert_true(fixture.shared[0].number == 7);
    fixture.progress.at++;
    assert_null(next(&fixture).command);
    command_program_free(&fixture.program);
}

static void a_branch_is_decided_once(void **state) {
    (void)state;
    struct fixture fixture = begin("x y", "x == 0 -> x = 1; x == 0 -> y = 1; y == 9 -> y = 2");
    assert_null(next(&fixture).command);
    assert_true(fixture.shared[0].number == 1 && fixture.shared[1].number == 1);
    assert_int_equal(fixture.progress.held_commands, 3);
    command_program_free(&fixture.program);
}

static void what_may_have_happened_is_unknown(void **state) {
    (void)state;
    struct fixture fixture = begin("x y", "x > 0 -> y = 1; x > 0 -> broadcast; wait while y == 1");
    fixture.shared[0].known = false;
    struct command_stop stop = next(&fixture);
    assert_int_equal(stop.command->kind, COMMAND_BROADCAST);
    assert_true(!stop.guard.known && !fixture.shared[1].known && fixture.progress.is_lost);
    fixture.progress.at++;
    stop = next(&fixture);
    assert_true(stop.command->kind == COMMAND_WAIT && !stop.waits.known);
    command_program_free(&fixture.program);
}

static void an_update_that_changes_nothing_leaves_a_value_known(void **state) {
    (void)state;
    struct fixture fixture = begin("x y", "x > 0 -> y = 0");
    fixture.shared[0].known = false;
    assert_null(next(&fixture).command);
    assert_true(fixture.shared[1].known && fixture.shared[1].number == 0);
    command_program_free(&fixture.program);
}

static void an_own_variable_may_have_the_number_of_the_visit(void **state) {
    (void)state;
    struct fixture fixture = begin("x own:number", "x = number");
    assert_int_equal(fixture.program.number, 1);
    command_program_free(&fixture.program);
    fixture = begin("number", "number = 1"); /* a shared one may not */
    assert_int_equal(fixture.program.number, -1);
    command_program_free(&fixture.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_bind_as_in_c),
        cmocka_unit_test(updates_reach_shared_and_own_variables),
        cmocka_unit_test(a_wait_stops_until_its_predicate_fails),
        cmocka_unit_test(a_branch_is_decided_once),
        cmocka_unit_test(what_may_have_happened_is_unknown),
        cmocka_unit_test(an_update_that_changes_nothing_leaves_a_value_known),
        cmocka_unit_test(an_own_variable_may_have_the_number_of_the_visit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
