/* A semaphore of which each takes as many as it needs: how many that were, by what its counter held
 * at every unlock of a trace written by hand. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, FREED = 0x2000, ROUNDS = 20, WORKERS = 2, END = 400000 };

static struct facts_operation acts[] = {{FACTS_ACQUIRE, {"t.c", "take", 20, 1}},
                                        {FACTS_RELEASE, {"t.c", "give", 30, 1}}};
static struct facts_variable variables[] = {
    {.name = "struct budget.left"},
    {.name = "struct budget.limit"},
    {.name = "local:take.units", .local = true},
    {.name = "local:give.units", .local = true},
};

/* Counts what is left ... */
static struct facts_step take_steps[] = {
    {.kind = STEP_WAIT, .value = {"left < units", "$0 $2 <"}, .condition = "struct budget.freed"},
    {.kind = STEP_UPDATE, .change = CHANGE_OTHER, .value = {"left - units", "$0 $2 -"}},
};
static struct facts_step give_steps[] = {
    {.kind = STEP_UPDATE, .change = CHANGE_OTHER, .value = {"left + units", "$0 $3 +"}},
    {.kind = STEP_BROADCAST, .condition = "struct budget.freed"},
};
static struct facts_section down_sections[] = {{{"t.c", "take", 20, 1}, 2, take_steps},
                                               {{"t.c", "give", 30, 1}, 2, give_steps}};
/* ... or what is in use. */
static struct facts_step take_up_steps[] = {
    {.kind = STEP_WAIT,
     .value = {"left + units > limit", "$0 $2 + $1 >"},
     .condition = "struct budget.freed"},
    {.kind = STEP_UPDATE, .change = CHANGE_OTHER, .value = {"left + units", "$0 $2 +"}},
};
static struct facts_step give_up_steps[] = {
    {.kind = STEP_UPDATE, .change = CHANGE_OTHER, .value = {"left - units", "$0 $3 -"}},
    {.kind = STEP_BROADCAST, .condition = "struct budget.freed"},
};
static struct facts_section up_sections[] = {{{"t.c", "take", 20, 1}, 2, take_up_steps},
                                             {{"t.c", "give", 30, 1}, 2, give_up_steps}};

static struct facts_monitor budget_of(struct facts_section *sections, double amount) {
    return (struct facts_monitor){.kind = MONITOR_SEMAPHORE,
                                  .name = "struct budget",
                                  .mutex = "struct budget.mutex",
                                  .n_operations = 2,
                                  .operations = acts,
                                  .n_variables = 4,
                                  .variables = variables,
                                  .n_sections = 2,
                                  .sections = sections,
                                  .count = "struct budget.left",
                                  .amount = {.text = "LIMIT", .offset = amount, .constant = true}};
}

/* What the counter holds while a trace is written; each takes from it by `sign`. */
struct writing {
    struct trace *trace;
    int64_t held;
    int sign;
    bool looks;
};

static struct writing begin(int64_t held, int sign) {
    struct writing writing = {builder_new_with_workers(WORKERS), held, sign, true};
    builder_value(writing.trace, "struct budget.left", MUTEX, 1, 1000, held);
    return writing;
}

/* The section just written gave the mutex back. */
static void leave(struct writing *writing, int thread, int64_t added) {
    struct trace_record *unlock = builder_last(writing->trace, thread);
    writing->held += added;
    if (!writing->looks)
        return;
    unlock->flags |= TRACE_LOOKED;
    unlock->value = (int32_t)(uint32_t)writing->held;
}

static struct builder_section taking(uint64_t at) {
    return (struct builder_section){.function = "take", .line = 20, .mutex = MUTEX, .start_ns = at};
}

static void take(struct writing *writing, int thread, uint64_t at, int64_t units) {
    builder_section(writing->trace, thread, taking(at));
    leave(writing, thread, -writing->sign * units);
}

static void give(struct writing *writing, int thread, uint64_t at, int64_t units) {
    builder_section(writing->trace, thread,
                    (struct builder_section){.function = "give",
                                             .line = 30,
                                             .mutex = MUTEX,
                                             .start_ns = at,
                                             .signals_before = FREED,
                                             .broadcasts = true});
    leave(writing, thread, writing->sign * units);
}

/* Two at once, who never have to wait: one takes 1, 2, ..., the other one 4. What is given back is
 * now so much `more`, now less. */
static void pass(struct writing *writing, uint64_t rounds, int64_t more) {
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t at = 1000 + 1000 * i;
        int64_t units = (int64_t)i % 5 + 1;
        take(writing, 1, at, units);
        take(writing, 2, at + 100, 4);
        give(writing, 1, at + 200, units + (i % 2 ? more : -more));
        give(writing, 2, at + 300, 4);
    }
}

static struct model *model_of(struct writing *writing, struct facts_monitor *budget) {
    struct facts facts = {.version = FACTS_VERSION, .n_monitors = 1, .monitors = budget};
    for (size_t t = 0; t < writing->trace->n_threads; t++)
        builder_slice(writing->trace, (int)t, 0, END);
    builder_finish(writing->trace, END);
    return builder_model(writing->trace, &facts);
}

/* The model's node of that kind; it has one alone. */
static const struct node *node_of(const struct model *model, enum node_kind kind) {
    const struct node *found = NULL;
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == kind) {
            assert_null(found);
            found = &model->nodes[n];
        }
    assert_non_null(found);
    return found;
}

/* Whoever takes by the model takes what was seen, of so many, and gives it back. */
static void assert_in_units(const struct model *model, double amount) {
    const struct node *takes = node_of(model, NODE_ACQUIRE);
    assert_int_equal(takes->counts.kind, DIST_EMPIRICAL);
    assert_true(fabs(takes->counts.mean - (3 + 4) / 2.0) < 0.01);
    assert_true(takes->counts.values[0] == 1);
    assert_true(takes->counts.values[takes->counts.n_values - 1] == 5);
    assert_true(node_of(model, NODE_RELEASE)->gives_back);
    assert_true(model->objects[takes->object].amount.base == amount);
    assert_int_equal(model->n_monitors, 1);
    assert_int_equal(model->monitors[0].kind, HAND_MADE_SEMAPHORE);
    assert_int_equal(model->monitors[0].how, MODELLED_EXACTLY);
    assert_true(model->monitors[0].amount.base == amount);
}

static void each_takes_what_the_counter_lost(void **state) {
    (void)state;
    struct facts_monitor budget = budget_of(down_sections, 12);
    struct writing writing = begin(12, 1);
    pass(&writing, ROUNDS, 0);
    struct model *model = model_of(&writing, &budget);
    assert_in_units(model, 12);
    model_free(model);
}

static void a_counter_of_what_is_in_use_grows(void **state) {
    (void)state;
    struct facts_monitor budget = budget_of(up_sections, 12);
    struct writing writing = begin(0, -1);
    pass(&writing, ROUNDS, 0);
    struct model *model = model_of(&writing, &budget);
    assert_in_units(model, 12);
    model_free(model);
}

/* Only the lower half of what the counter holds is in the trace. */
static void a_counter_may_be_large(void **state) {
    (void)state;
    for (int64_t held = 1ll << 31; held <= 1ll << 33; held *= 2) {
        struct facts_monitor budget = budget_of(down_sections, (double)held);
        struct writing writing = begin(held, 1);
        pass(&writing, ROUNDS, 0);
        struct model *model = model_of(&writing, &budget);
        assert_in_units(model, (double)held);
        model_free(model);
    }
}

/* The section that was under way at the first look does not tell. */
static void the_first_look_may_come_late(void **state) {
    (void)state;
    struct facts_monitor budget = budget_of(down_sections, 12);
    struct writing writing = begin(12, 1);
    writing.trace->n_values = 0;
    free(writing.trace->values[0].name);
    pass(&writing, 10 * ROUNDS, 0);
    struct model *model = model_of(&writing, &budget);
    assert_in_units(model, 12);
    model_free(model);
}

/* One each, and the user is told that this is not the truth. */
static void assert_unknown(struct model *model) {
    const struct node *takes = node_of(model, NODE_ACQUIRE);
    assert_int_equal(takes->counts.kind, DIST_NONE);
    assert_false(node_of(model, NODE_RELEASE)->gives_back);
    assert_int_equal(model->n_monitors, 1);
    assert_int_equal(model->monitors[0].how, MODELLED_BY_FALLBACK);
    assert_non_null(strstr(model->monitors[0].why, "how many each takes differs"));
    model_free(model);
}

static void where_nobody_looked_it_is_told_that_amounts_are_not_known(void **state) {
    (void)state;
    struct facts_monitor budget = budget_of(down_sections, 12);
    struct writing writing = begin(12, 1);
    writing.looks = false;
    pass(&writing, ROUNDS, 0);
    assert_unknown(model_of(&writing, &budget));
}

static void who_gives_something_else_than_he_took_is_not_modelled_so(void **state) {
    (void)state;
    struct facts_monitor budget = budget_of(down_sections, 12);
    struct writing writing = begin(12, 1);
    pass(&writing, ROUNDS, 1);
    assert_unknown(model_of(&writing, &budget));
}

/* The second one takes 4, and waits where there would have to be more than 6 until the first has
 * given back. */
static struct model *model_with_waits(double amount) {
    struct facts_monitor budget = budget_of(down_sections, amount);
    struct writing writing = begin((int64_t)amount, 1);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t at = 1000 + 1000 * i;
        int64_t units = (int64_t)i % 5 + 1;
        take(&writing, 1, at, units);
        if (units > 2) {
            struct builder_section waiting = taking(at + 100);
            waiting.waits_for = FREED;
            waiting.woken_ns = at + 210;
            builder_section(writing.trace, 2, waiting);
            give(&writing, 1, at + 200, units);
            leave(&writing, 2, -4);
        } else {
            take(&writing, 2, at + 100, 4);
            give(&writing, 1, at + 200, units);
        }
        give(&writing, 2, at + 300, 4);
    }
    return model_of(&writing, &budget);
}

static bool any_explained(const struct model *model) {
    for (size_t i = 0; i < model->n_waiting; i++)
        if (strstr(model->waiting[i].what, "condition") &&
            model->waiting[i].how == MODELLED_EXACTLY)
            return true;
    return false;
}

static void waits_must_be_those_for_what_is_not_there(void **state) {
    (void)state;
    struct model *model = model_with_waits(6);
    assert_true(any_explained(model));
    assert_int_equal(node_of(model, NODE_ACQUIRE)->counts.kind, DIST_EMPIRICAL);
    model_free(model);
    model = model_with_waits(12); /* nobody need have waited */
    assert_false(any_explained(model));
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_takes_what_the_counter_lost),
        cmocka_unit_test(a_counter_of_what_is_in_use_grows),
        cmocka_unit_test(a_counter_may_be_large),
        cmocka_unit_test(the_first_look_may_come_late),
        cmocka_unit_test(where_nobody_looked_it_is_told_that_amounts_are_not_known),
        cmocka_unit_test(who_gives_something_else_than_he_took_is_not_modelled_so),
        cmocka_unit_test(waits_must_be_those_for_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
