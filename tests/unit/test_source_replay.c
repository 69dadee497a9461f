/* The source's guarded commands carried out in the order of a trace written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "modelgen/sync/replay.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, LOCK_LINE = 10, UNLOCK_LINE = 20 };

/* ticket_lock: mine = next++; while (mine != serving) wait. ticket_unlock: serving++; broadcast. */
static struct facts_step take_steps[] = {
    {.kind = STEP_UPDATE, .variable = 2, .change = CHANGE_OTHER, .value = {"next", "$0"}},
    {.kind = STEP_UPDATE, .variable = 0, .change = CHANGE_ADD, .by = 1},
    {.kind = STEP_WAIT, .value = {"mine != serving", "$2 $1 !="}, .condition = "struct ticket.c"},
};
static struct facts_step give_steps[] = {
    {.kind = STEP_UPDATE, .variable = 1, .change = CHANGE_ADD, .by = 1},
    {.kind = STEP_BROADCAST, .condition = "struct ticket.c"},
};
static struct facts_section commands[] = {
    {.place = {"t.c", "ticket_lock", LOCK_LINE, 1}, .n_steps = 3, .steps = take_steps},
    {.place = {"t.c", "ticket_unlock", UNLOCK_LINE, 1}, .n_steps = 2, .steps = give_steps},
};
static struct facts_variable variables[] = {
    {.name = "struct ticket.next", .initial = {.text = "0", .constant = true}},
    {.name = "struct ticket.serving", .initial = {.text = "0", .constant = true}},
    {.name = "local:ticket_lock.mine", .local = true},
};

static struct facts_monitor ticket_lock(void) {
    return (struct facts_monitor){.kind = MONITOR_HAND_OVER,
                                  .name = "struct ticket",
                                  .mutex = "struct ticket.mutex",
                                  .n_variables = 3,
                                  .variables = variables,
                                  .n_sections = 2,
                                  .sections = commands};
}

static void section(struct trace *trace, int thread, const char *function, int line, uint64_t start,
                    uint64_t woken, bool broadcasts) {
    builder_section(trace, thread,
                    (struct builder_section){.function = function,
                                             .line = line,
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .waits_for = woken ? CONDITION : 0,
                                             .woken_ns = woken,
                                             .signals_after = broadcasts ? CONDITION : 0,
                                             .broadcasts = true});
}

/* Two threads by turns; the second one finds the lock taken and waits, if `waits`. */
static struct trace *two_customers(bool waits) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "customer", 0);
    builder_thread(trace, "customer", 0);
    for (uint64_t at = 100; at <= 500; at += 100) {
        section(trace, 1, "ticket_lock", LOCK_LINE, at, 0, false);
        section(trace, 2, "ticket_lock", LOCK_LINE, at + 10, waits ? at + 50 : 0, false);
        section(trace, 1, "ticket_unlock", UNLOCK_LINE, at + 40, 0, true);
        section(trace, 2, "ticket_unlock", UNLOCK_LINE, at + 80, 0, true);
    }
    builder_finish(trace, 1000);
    return trace;
}

static struct tally replay(struct trace *trace, const struct facts_monitor *proposal) {
    struct sections sections = sections_find(trace, builder_no_pools);
    int mutex = 0;
    while (sections.objects[mutex].kind != ON_MUTEX)
        mutex++;
    int *roles = source_replay_roles(trace, &sections, proposal, mutex);
    struct tally verdict = source_replay(&sections, proposal, mutex, roles, 2, NULL);
    free(roles);
    sections_free(&sections, trace);
    trace_free(trace);
    return verdict;
}

static void a_run_as_the_source_says_confirms_it(void **state) {
    (void)state;
    struct facts_monitor proposal = ticket_lock();
    struct tally verdict = replay(two_customers(true), &proposal);
    /* per round two threads take the lock, one of them waits, and both give it back */
    assert_true(verdict.decisions == 20);
    assert_true(verdict.waited == 5);
    assert_true(verdict.violations == 0);
    assert_true(verdict.unknown == 0);
}

static void a_run_against_the_source_refutes_it(void **state) {
    (void)state;
    struct facts_monitor proposal = ticket_lock();
    struct tally verdict = replay(two_customers(false), &proposal);
    assert_true(verdict.violations == 5);
    assert_int_equal(verdict.n_contradictions, CONTRADICTIONS_SHOWN);
    assert_int_equal(verdict.contradictions[0].time_ns, 110);
    assert_false(verdict.contradictions[0].waited);
}

static void what_the_source_does_not_tell_decides_nothing(void **state) {
    (void)state;
    struct facts_monitor proposal = ticket_lock();
    variables[1].initial.constant = false;
    struct tally verdict = replay(two_customers(false), &proposal);
    variables[1].initial.constant = true;
    assert_true(verdict.unknown > 0);
    assert_true(verdict.violations == 0);
}

static void records_under_a_common_lock_are_not_taken_for_one(void **state) {
    (void)state;
    struct facts_monitor proposal = ticket_lock();
    proposal.mutex = "global:all_tickets";
    struct tally verdict = replay(two_customers(false), &proposal);
    assert_true(verdict.decisions == 0);
}

/* if (next > 0) { next--; broadcast; }: whether it broadcasts was decided before it took one. */
static void a_branch_is_decided_once(void **state) {
    (void)state;
    static const struct facts_expression some = {"next > 0", "$0 0 >"};
    struct facts_step taking[] = {
        {.kind = STEP_UPDATE, .guard = some, .variable = 0, .change = CHANGE_ADD, .by = -1},
        {.kind = STEP_BROADCAST, .guard = some, .condition = "struct ticket.c"},
    };
    struct facts_section both[] = {commands[0], commands[1]};
    both[0].n_steps = 2; /* draws a number */
    both[1].steps = taking;
    struct facts_monitor proposal = ticket_lock();
    proposal.sections = both;
    struct tally verdict = replay(two_customers(false), &proposal);
    assert_true(verdict.decisions == 20);
    assert_true(verdict.violations == 0);
}

/* The model of the run, where the user wants the statements to be simulated. */
static struct model *model_by_statements(struct trace *trace) {
    struct facts_operation operations[] = {
        {FACTS_WAIT, {"t.c", "ticket_lock", LOCK_LINE, 1}},
        {FACTS_SIGNAL, {"t.c", "ticket_unlock", UNLOCK_LINE, 1}},
    };
    struct facts_monitor proposal = ticket_lock();
    proposal.statements = true;
    proposal.n_operations = 2;
    proposal.operations = operations;
    struct facts facts = {.n_monitors = 1, .monitors = &proposal};
    struct error error = {0};
    struct model *model = modelgen_build(trace, &facts, NULL, NULL, &error);
    trace_free(trace);
    if (!model)
        fail_msg("%s", error.text);
    return model;
}

static const struct object *monitor_of(const struct model *model) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_MONITOR)
            return &model->objects[o];
    return NULL;
}

static bool is_noted(const struct model *model, const char *text) {
    for (size_t n = 0; n < model->n_notes; n++)
        if (strstr(model->notes[n], text))
            return true;
    return false;
}

static void statements_become_an_object_of_the_model(void **state) {
    (void)state;
    struct model *model = model_by_statements(two_customers(true));
    const struct object *monitor = monitor_of(model);
    assert_non_null(monitor);
    assert_int_equal(monitor->n_variables, 3);
    assert_true(monitor->variables[2].per_thread && !monitor->variables[0].per_thread);
    assert_int_equal(monitor->n_conditions, 1);
    assert_int_equal(monitor->n_sections, 2);
    assert_string_equal(monitor->sections[0].statements[1].value.postfix, "$0 1 +");
    assert_string_equal(monitor->sections[0].statements[2].predicate.postfix, "$2 $1 !=");
    assert_string_equal(monitor->evidence,
                        "source statements replayed: 20 decisions, 5 waits, 0 violations");
    int carried_out = 0;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        carried_out += node->kind == NODE_STATEMENTS && node->mutex != MODEL_NONE;
    }
    assert_true(carried_out >= 2);
    assert_true(model->n_monitors == 1 && model->monitors[0].how == MODELLED_EXACTLY);
    model_free(model);
}

static void statements_that_the_run_contradicts_are_not_simulated(void **state) {
    (void)state;
    struct model *model = model_by_statements(two_customers(false));
    assert_null(monitor_of(model));
    assert_true(is_noted(model, "cannot be simulated: the traced run contradicts them"));
    model_free(model);
}

static void statements_on_what_is_not_known_are_not_simulated(void **state) {
    (void)state;
    variables[1].initial.constant = false;
    struct model *model = model_by_statements(two_customers(true));
    variables[1].initial.constant = true;
    assert_null(monitor_of(model));
    assert_true(is_noted(model, "cannot be simulated: they depend on what its variables"));
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_as_the_source_says_confirms_it),
        cmocka_unit_test(a_run_against_the_source_refutes_it),
        cmocka_unit_test(what_the_source_does_not_tell_decides_nothing),
        cmocka_unit_test(a_branch_is_decided_once),
        cmocka_unit_test(statements_become_an_object_of_the_model),
        cmocka_unit_test(statements_that_the_run_contradicts_are_not_simulated),
        cmocka_unit_test(statements_on_what_is_not_known_are_not_simulated),
        cmocka_unit_test(records_under_a_common_lock_are_not_taken_for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
