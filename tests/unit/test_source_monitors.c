/* What the source proposes beside what a trace written by hand shows: the order within a section,
 * which proposal a finding belongs to, and who decides where few waits tell little. */
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

enum { MUTEX = 0x1000, EMPTY = 0x2000, FULL = 0x3000, NOBODY = 0, ROUNDS = 10 };

/* A critical section of `function` that signals `told` (NOBODY: none) and then waits on `awaited`
 * until `woken` (0: not at all). */
static void section(struct trace *trace, int thread, const char *function, int line, uint64_t start,
                    uint64_t told, uint64_t awaited, uint64_t woken) {
    builder_section(trace, thread,
                    (struct builder_section){.function = function,
                                             .line = line,
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .signals_before = told,
                                             .waits_for = awaited,
                                             .woken_ns = woken});
}

static struct trace *finished(struct trace *trace, uint64_t end_ns) {
    builder_run_all(trace, end_ns);
    builder_finish(trace, end_ns);
    return trace;
}

static struct model *model_of(struct trace *trace, size_t n_monitors,
                              struct facts_monitor *monitors) {
    struct facts facts = {.version = FACTS_VERSION, .n_monitors = n_monitors, .monitors = monitors};
    struct modelgen_options options = {0};
    struct error error = {0};
    struct model *model = modelgen_build(trace, &facts, NULL, &options, &error);
    assert_non_null(model);
    return model;
}

/* ---- the order within a section ---- */

/* The worker hands in what is empty, and waits for what is full, in one section. By turns, main
 * waits for the first, and the worker for the second: then nobody is there to be signalled. */
static struct trace *exchanges(void) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t at = 1000 * (2 * i + 1);
        section(trace, 0, "fill", 10, at, NOBODY, NOBODY, 0);
        section(trace, 0, "fetch", 20, at + 100, NOBODY, EMPTY, at + 210);
        section(trace, 1, "exchange", 30, at + 200, EMPTY, NOBODY, 0);
        at += 1000;
        section(trace, 1, "exchange", 30, at, NOBODY, FULL, at + 205);
        section(trace, 0, "fill", 10, at + 200, FULL, NOBODY, 0);
        section(trace, 0, "fetch", 20, at + 300, NOBODY, NOBODY, 0);
    }
    return finished(trace, 30000);
}

static struct facts_step fetch_steps[] = {{.kind = STEP_WAIT, .condition = "struct x.empty"}};
static struct facts_step hand_in_steps[] = {{.kind = STEP_SIGNAL, .condition = "struct x.empty"}};
static struct facts_step fill_steps[] = {{.kind = STEP_SIGNAL, .condition = "struct x.full"}};
static struct facts_step exchange_steps[] = {{.kind = STEP_WAIT, .condition = "struct x.full"}};
static struct facts_section of_empty[] = {
    {{"t.c", "fetch", 20, 1}, 1, fetch_steps},
    {{"t.c", "exchange", 30, 1}, 1, hand_in_steps},
};
static struct facts_section of_full[] = {
    {{"t.c", "fill", 10, 1}, 1, fill_steps},
    {{"t.c", "exchange", 30, 1}, 1, exchange_steps},
};
static struct facts_operation everywhere[] = {
    {FACTS_WAIT, {"t.c", "fetch", 20, 1}},
    {FACTS_WAIT, {"t.c", "exchange", 30, 1}},
    {FACTS_ARRIVE, {"t.c", "fill", 10, 1}},
};
static struct facts_monitor two_rings[] = {
    {.kind = MONITOR_COMPLETION,
     .name = "struct x",
     .mutex = "struct x.mutex",
     .n_operations = 3,
     .operations = everywhere,
     .n_sections = 2,
     .sections = of_empty},
    {.kind = MONITOR_COMPLETION,
     .name = "struct x",
     .mutex = "struct x.mutex",
     .n_operations = 3,
     .operations = everywhere,
     .n_sections = 2,
     .sections = of_full},
};

/* Does the worker's part in what main waits for come before the worker's own wait? */
static bool hands_in_early(const struct trace *trace, const struct facts *facts) {
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, facts, NULL);
    bool early = false;
    assert_int_equal(count_by(&monitors, BY_COUNTER), 2);
    for (size_t g = 0; g < count_by(&monitors, BY_COUNTER); g++) {
        const struct explanation *guard = number_by(&monitors, BY_COUNTER, g);
        bool of_main = false;
        for (size_t c = 0; c < monitors.n_classes; c++)
            of_main |=
                guard->counter.waits[c] && strcmp(monitors.classes[c].function, "fetch") == 0;
        for (size_t c = 0; of_main && c < monitors.n_classes; c++)
            early |= guard->counter.early[c] && guard->counter.weight[c] > 0;
        assert_true(guard->tally.violations == 0);
    }
    monitors_free(&monitors);
    sections_free(&sections, trace);
    return early;
}

static void the_source_tells_what_comes_before_a_wait_where_the_trace_does_not(void **state) {
    (void)state;
    struct trace *trace = exchanges();
    struct facts facts = {.version = FACTS_VERSION, .n_monitors = 2, .monitors = two_rings};
    assert_false(hands_in_early(trace, NULL));
    assert_false(hands_in_early(trace, &facts));
    hand_in_steps[0].early = true;
    assert_true(hands_in_early(trace, &facts));
    trace_free(trace);
}

/* A section that was seen to signal after it had waited does not do so before, whatever the order
 * in the text: it may be a loop. */
static void the_trace_overrules_the_order_of_the_text(void **state) {
    (void)state;
    struct trace *trace = exchanges();
    struct facts facts = {.version = FACTS_VERSION, .n_monitors = 2, .monitors = two_rings};
    hand_in_steps[0].early = true;
    uint32_t context = builder_context(trace, "exchange", 30, "thread", 100);
    builder_record(trace, 1, "pthread_mutex_lock", 25000, 0, MUTEX, context, 0);
    builder_record(trace, 1, "pthread_cond_wait", 25001, 100, FULL, context, 0);
    builder_record(trace, 1, "pthread_cond_signal", 25102, 0, EMPTY, context, 0);
    builder_record(trace, 1, "pthread_mutex_unlock", 25103, 0, MUTEX, context, 0);
    section(trace, 0, "fill", 10, 25090, FULL, NOBODY, 0);
    assert_false(hands_in_early(trace, &facts));
    trace_free(trace);
}

/* ---- which proposal a finding belongs to ---- */

/* Both proposals name all of the functions, as waiting, too; their statements tell them apart. */
static void what_waits_for_one_condition_is_not_the_object_of_another(void **state) {
    (void)state;
    struct trace *trace = exchanges();
    struct facts facts = {.version = FACTS_VERSION, .n_monitors = 2, .monitors = two_rings};
    hand_in_steps[0].early = true;
    struct modelgen_options options = {0};
    struct error error = {0};
    struct model *model = modelgen_build(trace, &facts, NULL, &options, &error);
    assert_non_null(model);
    assert_true(model->n_monitors > 0);
    for (size_t i = 0; i < model->n_monitors; i++) {
        assert_int_equal(model->monitors[i].how, MODELLED_EXACTLY);
        assert_true(model->monitors[i].n_made_of > 0);
    }
    model_free(model);
    trace_free(trace);
}

/* ---- statements of one of several objects ---- */

static struct facts_step take_steps[] = {
    {.kind = STEP_WAIT, .value = {"count == 0", "$0 0 =="}, .condition = "struct y.more"},
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = -1},
};
static struct facts_step give_steps[] = {
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = 1},
    {.kind = STEP_SIGNAL, .condition = "struct y.more"},
};
static struct facts_step look_steps[] = {
    {.kind = STEP_WAIT, .value = {"!open", "$0 !"}, .condition = "struct y.opened"},
};
static struct facts_section of_items[] = {
    {{"t.c", "take", 20, 1}, 2, take_steps},
    {{"t.c", "give", 10, 1}, 2, give_steps},
};
static struct facts_section of_gate[] = {{{"t.c", "look", 40, 1}, 1, look_steps}};
static struct facts_operation item_operations[] = {
    {FACTS_GET, {"t.c", "take", 20, 1}},
    {FACTS_PUT, {"t.c", "give", 10, 1}},
};
static struct facts_operation gate_operations[] = {{FACTS_WAIT, {"t.c", "look", 40, 1}}};
static struct facts_variable count[] = {
    {.name = "struct y.count", .initial = {.text = "0", .constant = true}}};
static struct facts_variable open_flag[] = {
    {.name = "struct y.open", .initial = {.text = "1", .offset = 1, .constant = true}}};
static struct facts_monitor queue_and_gate[] = {
    {.kind = MONITOR_UNBOUNDED_QUEUE,
     .name = "struct y",
     .mutex = "struct y.mutex",
     .n_operations = 2,
     .operations = item_operations,
     .n_variables = 1,
     .variables = count,
     .n_sections = 2,
     .sections = of_items,
     .statements = true},
    {.kind = MONITOR_EVENT,
     .name = "struct y",
     .mutex = "struct y.mutex",
     .n_operations = 1,
     .operations = gate_operations,
     .n_variables = 1,
     .variables = open_flag,
     .n_sections = 1,
     .sections = of_gate},
    {.kind = MONITOR_COMPLETION, /* a view of the queue */
     .name = "struct y",
     .mutex = "struct y.mutex",
     .n_operations = 1,
     .operations = item_operations},
};

/* The gate was open all the time: the statements of the queue beside it do not stand for it. They
 * do for another proposal that waits where the queue does. */
static void statements_are_of_their_own_object_only(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t at = 1000; at <= 1000 * (uint64_t)ROUNDS; at += 1000) {
        section(trace, 1, "look", 40, at, NOBODY, NOBODY, 0);
        section(trace, 1, "take", 20, at + 100, NOBODY, FULL, at + 205);
        section(trace, 0, "give", 10, at + 200, FULL, NOBODY, 0);
    }
    finished(trace, 12000);
    struct model *model = model_of(trace, 3, queue_and_gate);
    assert_int_equal(model->n_monitors, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct hand_made *monitor = &model->monitors[i];
        bool is_gate = monitor->kind == HAND_MADE_EVENT;
        assert_int_equal(monitor->how, is_gate ? MODELLED_NOT : MODELLED_EXACTLY);
        assert_int_equal(monitor->n_made_of, is_gate ? 0 : 1);
    }
    assert_true(model->monitors[0].kind != model->monitors[1].kind);
    model_free(model);
    trace_free(trace);
}

/* Several threads come to where the source sees a barrier, and wait for items of the queue only. */
static void a_barrier_that_nobody_waited_at_is_none(void **state) {
    (void)state;
    static struct facts_operation arrivals[] = {
        {FACTS_ARRIVE, {"t.c", "give", 10, 1}},
        {FACTS_ARRIVE, {"t.c", "take", 20, 1}},
    };
    struct facts_monitor monitors[] = {queue_and_gate[0],
                                       {.kind = MONITOR_BARRIER,
                                        .name = "struct y",
                                        .mutex = "struct y.mutex",
                                        .n_operations = 2,
                                        .operations = arrivals}};
    monitors[0].statements = false;
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t at = 1000; at <= 1000 * (uint64_t)ROUNDS; at += 1000) {
        section(trace, 1, "take", 20, at + 100, NOBODY, FULL, at + 205);
        section(trace, 0, "give", 10, at + 200, FULL, NOBODY, 0);
    }
    finished(trace, 12000);
    struct model *model = model_of(trace, 2, monitors);
    assert_int_equal(model->n_monitors, 1);
    assert_int_equal(model->monitors[0].kind, HAND_MADE_UNBOUNDED_QUEUE);
    model_free(model);
    trace_free(trace);
}

/* ---- few waits ---- */

/* Two workers wait at their start, and find something each time when they come again, at another
 * place: what they waited for may have happened for good, or have been taken. */
static struct trace *busy_pool(bool again_when_empty) {
    struct trace *trace = builder_new_with_workers(2);
    section(trace, 1, "work", 20, 100, NOBODY, FULL, 1005);
    section(trace, 2, "work", 20, 110, NOBODY, FULL, 1015);
    section(trace, 0, "post", 10, 1000, FULL, NOBODY, 0);
    section(trace, 0, "post", 10, 1010, FULL, NOBODY, 0);
    for (uint64_t i = 1; i <= 2 * ROUNDS; i++)
        section(trace, 0, "post", 10, 1000 + 20 * i, NOBODY, NOBODY, 0);
    for (uint64_t i = 0; i < ROUNDS * (again_when_empty ? 2 : 1); i++) {
        section(trace, 1, "work", 30, 2000 + 20 * i, NOBODY, NOBODY, 0);
        section(trace, 2, "work", 30, 2010 + 20 * i, NOBODY, NOBODY, 0);
    }
    return finished(trace, 4000);
}

static struct facts_operation pool_operations[] = {
    {FACTS_RUN, {"t.c", "work", 20, 1}},
    {FACTS_RUN, {"t.c", "work", 30, 1}},
    {FACTS_SUBMIT, {"t.c", "post", 10, 1}},
};
static struct facts_monitor pool[] = {{.kind = MONITOR_THREAD_POOL,
                                       .name = "struct z",
                                       .mutex = "struct z.mutex",
                                       .n_operations = 3,
                                       .operations = pool_operations}};

static void where_few_waits_tell_the_source_decides_unless_the_trace_refutes_it(void **state) {
    (void)state;
    for (int refuted = 0; refuted <= 1; refuted++) {
        struct trace *trace = busy_pool(refuted);
        struct facts facts = {.version = FACTS_VERSION, .n_monitors = 1, .monitors = pool};
        struct sections sections = sections_find(trace, builder_no_pools);
        struct monitors monitors = monitors_find(trace, &sections, &facts, NULL);
        assert_true(count_by(&monitors, BY_COUNTER) > 0);
        for (size_t g = 0; g < count_by(&monitors, BY_COUNTER); g++)
            assert_int_equal(number_by(&monitors, BY_COUNTER, g)->counter.by_source, !refuted);
        if (!refuted) {
            assert_int_equal(count_by(&monitors, BY_COUNTER), 1);
            assert_int_equal(number_by(&monitors, BY_COUNTER, 0)->counter.kind, GUARD_QUEUE);
            assert_true(number_by(&monitors, BY_COUNTER, 0)->tally.decisions == 2 * ROUNDS + 4);
            assert_true(number_by(&monitors, BY_COUNTER, 0)->tally.waited == 2);
        }
        monitors_free(&monitors);
        sections_free(&sections, trace);
        trace_free(trace);
    }
}

/* What the few waits alone would not have told is not said to be sure. */
static void what_the_source_decides_is_no_surer_than_the_source(void **state) {
    (void)state;
    struct trace *trace = busy_pool(false);
    struct model *model = model_of(trace, 1, pool);
    assert_int_equal(model->n_monitors, 1);
    assert_int_equal(model->monitors[0].kind, HAND_MADE_THREAD_POOL);
    assert_true(model->monitors[0].confidence <= 0.5);
    model_free(model);
    trace_free(trace);
}

/* Two queues of one type are made by calls that differ in how much room they ask for. */
static void each_object_has_the_amount_it_was_made_with(void **state) {
    (void)state;
    static struct facts_choice choices[] = {
        {.amount = {.text = "8", .offset = 8, .constant = true},
         .place = {"t.c", "open_large", 50, 1}},
        {.amount = {.text = "3", .offset = 3, .constant = true},
         .place = {"t.c", "open_small", 60, 1}},
    };
    struct facts_monitor queue = pool[0];
    queue.amount = (struct facts_amount){.text = "size", .n_choices = 2, .choices = choices};
    struct trace *trace = builder_new_with_workers(2);
    builder_record(trace, 0, "pthread_mutex_init", 10, 0, MUTEX,
                   builder_context(trace, "queue_init", 70, "open_small", 60), 0);
    for (uint64_t at = 1000; at <= 1000 * (uint64_t)ROUNDS; at += 1000) {
        section(trace, 1, "work", 20, at + 100, NOBODY, FULL, at + 205);
        section(trace, 0, "post", 10, at + 200, FULL, NOBODY, 0);
    }
    finished(trace, 12000);
    struct model *model = model_of(trace, 1, &queue);
    assert_int_equal(model->n_monitors, 1);
    assert_int_equal(model->monitors[0].kind, HAND_MADE_THREAD_POOL);
    assert_true(model->monitors[0].amount.base == 3);
    assert_int_equal(model->monitors[0].amount.n_terms, 0);
    model_free(model);
    trace_free(trace);
}

/* ---- limits that nobody met ---- */

/* A variable held `value` when a thread had just taken the mutex. */
static void see_under(struct trace *trace, uint64_t mutex, const char *name, uint64_t time_ns,
                      int64_t value) {
    trace->values = memory_resize(trace->values, trace->n_values + 1, sizeof *trace->values);
    trace->values[trace->n_values++] =
        (struct trace_value){memory_strdup(name), mutex, 1, time_ns, value};
}

static void see(struct trace *trace, const char *name, uint64_t time_ns, int64_t value) {
    see_under(trace, MUTEX, name, time_ns, value);
}

/* The model's only object of that kind; NULL: it has none. */
static const struct object *find_tokens(const struct model *model) {
    const struct object *found = NULL;
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_TOKENS) {
            assert_null(found);
            found = &model->objects[o];
        }
    return found;
}

/* How many there are at the start; -1: the model has none. */
static double tokens_of(const struct model *model) {
    const struct object *tokens = find_tokens(model);
    assert_true(!tokens || tokens->amount.n_terms == 0);
    return tokens ? tokens->amount.base : -1;
}

static bool any_contains(char **lines, size_t n, const char *text) {
    for (size_t i = 0; i < n; i++)
        if (strstr(lines[i], text))
            return true;
    return false;
}

static bool evidence_says(const struct model *model, const char *text) {
    assert_int_equal(model->n_monitors, 1);
    return any_contains(model->monitors[0].evidence, model->monitors[0].n_evidence, text);
}

static bool is_noted(const struct model *model) {
    return any_contains(model->notes, model->n_notes, "nobody had to wait for");
}

static void end(struct model *model, struct trace *trace) {
    model_free(model);
    trace_free(trace);
}

enum { ENTERS_FIRST = 1000, ENTERS_SECOND = 1100, OTHER_MUTEX = 0x1100 };

/* Two workers are inside at once, and nobody ever has to wait. */
static void pass_gate(struct trace *trace, uint64_t mutex, uint64_t at) {
    struct builder_section enter = {
        .function = "enter", .line = 20, .mutex = mutex, .start_ns = at};
    struct builder_section leave = {.function = "leave",
                                    .line = 30,
                                    .mutex = mutex,
                                    .start_ns = at + 200,
                                    .signals_before = EMPTY};
    for (int thread = 1; thread <= 2; thread++) {
        builder_section(trace, thread, enter);
        builder_section(trace, thread, leave);
        enter.start_ns += 100;
        leave.start_ns += 100;
    }
}

static struct trace *gate_trace(void) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t i = 0; i < ROUNDS; i++)
        pass_gate(trace, MUTEX, ENTERS_FIRST + 1000 * i);
    return finished(trace, 20000);
}

static struct facts_operation gate_acts[] = {
    {FACTS_ACQUIRE, {"t.c", "enter", 20, 1}},
    {FACTS_RELEASE, {"t.c", "leave", 30, 1}},
};
static struct facts_variable gate_variables[] = {{.name = "struct gate.left"},
                                                 {.name = "struct gate.limit"}};

/* Counts down how many may still enter. */
static struct facts_step enter_steps[] = {
    {.kind = STEP_WAIT, .value = {"left == 0", "$0 0 =="}, .condition = "struct gate.free"},
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = -1},
};
static struct facts_step leave_steps[] = {
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = 1},
    {.kind = STEP_SIGNAL, .condition = "struct gate.free"},
};
static struct facts_section down_sections[] = {{{"t.c", "enter", 20, 1}, 2, enter_steps},
                                               {{"t.c", "leave", 30, 1}, 2, leave_steps}};
/* Counts up how many are inside. */
static struct facts_step enter_up_steps[] = {
    {.kind = STEP_WAIT, .value = {"left >= limit", "$0 $1 >="}, .condition = "struct gate.free"},
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = 1},
};
static struct facts_step leave_up_steps[] = {
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = -1},
    {.kind = STEP_SIGNAL, .condition = "struct gate.free"},
};
static struct facts_section up_sections[] = {{{"t.c", "enter", 20, 1}, 2, enter_up_steps},
                                             {{"t.c", "leave", 30, 1}, 2, leave_up_steps}};

static struct facts_monitor gate_of(struct facts_section *sections) {
    return (struct facts_monitor){.kind = MONITOR_SEMAPHORE,
                                  .name = "struct gate",
                                  .mutex = "struct gate.mutex",
                                  .n_operations = 2,
                                  .operations = gate_acts,
                                  .n_variables = 2,
                                  .variables = gate_variables,
                                  .n_sections = 2,
                                  .sections = sections,
                                  .count = "struct gate.left",
                                  .amount = {.text = "struct gate.limit + 1"}};
}

/* How many permits the model has of a gate that was seen so. */
static double permits(struct trace *trace, struct facts_section *sections) {
    struct facts_monitor gate = gate_of(sections);
    struct model *model = model_of(trace, 1, &gate);
    double amount = tokens_of(model);
    assert_int_equal(model->n_monitors, 1);
    assert_int_equal(model->monitors[0].kind, HAND_MADE_SEMAPHORE);
    assert_int_equal(model->monitors[0].how, amount < 0 ? MODELLED_NOT : MODELLED_EXACTLY);
    assert_true(amount < 0 || model->monitors[0].amount.base == amount);
    assert_true(is_noted(model) == (amount < 0));
    assert_true(evidence_says(model, " when first seen") == (amount >= 0));
    end(model, trace);
    return amount;
}

static void permits_that_nobody_waited_for_are_those_that_the_counter_held(void **state) {
    (void)state;
    assert_true(permits(gate_trace(), down_sections) == -1);
    struct trace *trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST, 3);
    assert_true(permits(trace, down_sections) == 3);
    trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_SECOND, 2); /* one has gone in */
    assert_true(permits(trace, down_sections) == 3);
    trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST + 1000, 3); /* both have gone, and come back */
    assert_true(permits(trace, down_sections) == 3);
}

/* One gives what the other one takes, which it finds there each time. */
static void a_count_that_begins_at_nothing_may_be_given_before_it_is_taken(void **state) {
    (void)state;
    struct facts_monitor gate = gate_of(down_sections);
    gate.count = NULL;
    gate.amount = (struct facts_amount){.text = "0", .constant = true};
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t at = 1000; at <= 1000 * (uint64_t)ROUNDS; at += 1000) {
        section(trace, 0, "leave", 30, at, FULL, NOBODY, 0);
        section(trace, 1, "enter", 20, at + 100, NOBODY, NOBODY, 0);
    }
    struct model *model = model_of(finished(trace, 12000), 1, &gate);
    assert_true(tokens_of(model) == 0);
    assert_int_equal(model->monitors[0].how, MODELLED_EXACTLY);
    end(model, trace);
}

static void the_user_is_told_what_the_variable_held(void **state) {
    (void)state;
    struct facts_monitor gate = gate_of(down_sections);
    struct trace *trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_SECOND, 2);
    struct model *model = model_of(trace, 1, &gate);
    assert_true(
        evidence_says(model, "nobody had to wait for it; struct gate.left held 2 when first seen"));
    assert_true(strstr(find_tokens(model)->evidence, "struct gate.left held 2 when first seen"));
    end(model, trace);
}

static void where_a_counter_counts_up_the_limit_tells(void **state) {
    (void)state;
    struct trace *trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST, 0);
    assert_true(permits(trace, up_sections) == -1);
    trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST, 0);
    see(trace, "struct gate.limit", ENTERS_FIRST, 4);
    assert_true(permits(trace, up_sections) == 5);
}

static void what_was_seen_does_not_tell_where_something_speaks_against_it(void **state) {
    (void)state;
    struct trace *trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST, 1); /* but two went in */
    assert_true(permits(trace, down_sections) == -1);
    trace = gate_trace();
    see_under(trace, OTHER_MUTEX, "struct gate.left", ENTERS_FIRST, 3);
    assert_true(permits(trace, down_sections) == -1);
    trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_SECOND, 2);
    enter_steps[1].guard.text = "left > 1"; /* the first may have taken one or not */
    assert_true(permits(trace, down_sections) == -1);
    enter_steps[1].guard.text = NULL;
    trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST, 6);
    enter_steps[0].value.postfix = "$0 2 <"; /* one more must be left */
    assert_true(permits(trace, down_sections) == -1);
    enter_steps[0].value.postfix = "$0 0 ==";
    trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST, 6);
    enter_steps[1].by = -2; /* who goes in takes two */
    assert_true(permits(trace, down_sections) == -1);
    enter_steps[1].by = -1;
}

/* Two gates of one type, which the same workers pass one after the other. */
static void gates_that_are_alike_must_have_begun_alike(void **state) {
    (void)state;
    for (int more = 0; more <= 1; more++) {
        struct trace *trace = builder_new_with_workers(2);
        for (uint64_t i = 0; i < ROUNDS; i++) {
            pass_gate(trace, MUTEX, ENTERS_FIRST + 2000 * i);
            pass_gate(trace, OTHER_MUTEX, ENTERS_FIRST + 2000 * i + 1000);
        }
        finished(trace, 40000);
        see(trace, "struct gate.left", ENTERS_FIRST, 3);
        see_under(trace, OTHER_MUTEX, "struct gate.left", ENTERS_SECOND + 1000, 2 + more);
        struct facts_monitor gate = gate_of(down_sections);
        struct model *model = model_of(trace, 1, &gate);
        assert_true(tokens_of(model) == (more ? -1 : 3));
        end(model, trace);
    }
}

/* Of several amounts that the source knows the one that was seen. */
static void what_was_seen_chooses_among_what_the_source_says(void **state) {
    (void)state;
    static struct facts_choice choices[] = {
        {.amount = {.text = "4", .offset = 4, .constant = true}},
        {.amount = {.text = "6 * n_threads", .factor = 6, .follows_threads = true}},
    };
    struct facts_monitor gate = gate_of(down_sections);
    gate.amount.n_choices = 2;
    gate.amount.choices = choices;
    struct trace *trace = gate_trace();
    see(trace, "struct gate.left", ENTERS_FIRST, 4);
    struct model *model = model_of(trace, 1, &gate);
    assert_true(tokens_of(model) == 4);
    end(model, trace);
}

/* The worker takes what main puts; at the end two items are in the queue at once. */
static struct trace *queue_trace(void) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        section(trace, 1, "get", 20, 1000 * i + 100, NOBODY, EMPTY, 1000 * i + 205);
        section(trace, 0, "put", 10, 1000 * i + 200, EMPTY, NOBODY, 0);
    }
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t at = 20000 + 1000 * i;
        section(trace, 0, "put", 10, at, EMPTY, NOBODY, 0);
        section(trace, 0, "put", 10, at + 100, EMPTY, NOBODY, 0);
        section(trace, 1, "get", 20, at + 200, NOBODY, NOBODY, 0);
        section(trace, 1, "get", 20, at + 300, NOBODY, NOBODY, 0);
    }
    return finished(trace, 40000);
}

static struct facts_step put_steps[] = {
    {.kind = STEP_WAIT, .value = {"count == size", "$0 $1 =="}, .condition = "struct q.not_full"},
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = 1},
    {.kind = STEP_SIGNAL, .condition = "struct q.not_empty"},
};
static struct facts_step get_steps[] = {
    {.kind = STEP_WAIT, .value = {"count == 0", "$0 0 =="}, .condition = "struct q.not_empty"},
    {.kind = STEP_UPDATE, .change = CHANGE_ADD, .by = -1},
};
static struct facts_section queue_sections[] = {{{"t.c", "put", 10, 1}, 3, put_steps},
                                                {{"t.c", "get", 20, 1}, 2, get_steps}};
static struct facts_operation queue_acts[] = {{FACTS_PUT, {"t.c", "put", 10, 1}},
                                              {FACTS_GET, {"t.c", "get", 20, 1}}};
static struct facts_variable queue_variables[] = {
    {.name = "struct q.count", .initial = {.text = "0", .constant = true}},
    {.name = "struct q.size"}};

static struct facts_monitor queue_of(struct facts_amount amount) {
    return (struct facts_monitor){.kind = MONITOR_BOUNDED_QUEUE,
                                  .name = "struct q",
                                  .mutex = "struct q.mutex",
                                  .n_operations = 2,
                                  .operations = queue_acts,
                                  .n_variables = 2,
                                  .variables = queue_variables,
                                  .n_sections = 2,
                                  .sections = queue_sections,
                                  .count = "struct q.count",
                                  .amount = amount};
}

static struct facts_amount constant_amount(double amount) {
    return (struct facts_amount){.text = "SIZE", .offset = amount, .constant = true};
}

/* How much room the model has in a queue of which this is said; -1: without limit. */
static double room(struct trace *trace, struct facts_amount amount) {
    struct facts_monitor queue = queue_of(amount);
    struct model *model = model_of(trace, 1, &queue);
    double found = tokens_of(model);
    assert_int_equal(model->n_monitors, 1);
    const struct hand_made *monitor = &model->monitors[0];
    assert_int_equal(monitor->kind, HAND_MADE_BOUNDED_QUEUE);
    assert_int_equal(monitor->how, MODELLED_EXACTLY);
    assert_int_equal(monitor->n_made_of, found < 0 ? 1 : 2);
    assert_true(found < 0 || monitor->amount.base == found);
    assert_true(is_noted(model) == (found < 0));
    end(model, trace);
    return found;
}

static void a_queue_that_was_never_full_has_the_room_that_the_source_says(void **state) {
    (void)state;
    assert_true(room(queue_trace(), constant_amount(4)) == 4);
    assert_true(room(queue_trace(), constant_amount(2)) == 2); /* full, but nobody waited */
}

/* Does who puts wake all who may wait, where none ever had to? `silent`: of so many puts one tells
 * nobody; 0: all tell. */
static bool wakes_all(bool broadcasts, uint64_t silent) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t i = 1; i <= 2 * ROUNDS; i++) {
        uint64_t at = 1000 * i;
        uint64_t told = silent > 0 && i % silent == 0 ? NOBODY : EMPTY;
        builder_section(trace, 0,
                        (struct builder_section){.function = "put",
                                                 .line = 10,
                                                 .mutex = MUTEX,
                                                 .start_ns = at,
                                                 .signals_before = told,
                                                 .broadcasts = broadcasts});
        section(trace, 1 + (int)(i % 2), "get", 20, at + 200, NOBODY, NOBODY, 0);
    }
    struct facts_monitor queue = queue_of(constant_amount(4));
    struct model *model = model_of(finished(trace, 40000), 1, &queue);
    bool found = false, all = false;
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_QUEUE) {
            found = true;
            all = model->objects[o].wakes_all;
        }
    assert_true(found);
    end(model, trace);
    return all;
}

static void whom_a_put_wakes_shows_where_nobody_waited(void **state) {
    (void)state;
    assert_true(wakes_all(true, 0));
    assert_false(wakes_all(true, 5));
    assert_false(wakes_all(false, 0));
}

static void it_has_the_room_that_the_limit_held(void **state) {
    (void)state;
    struct facts_amount amount = {.text = "struct q.size - 1"};
    assert_true(room(queue_trace(), amount) == -1);
    struct trace *trace = queue_trace();
    see(trace, "struct q.size", 1100, 6);
    see(trace, "struct q.size", 1200, 6);
    assert_true(room(trace, amount) == 5);
    trace = queue_trace();
    see(trace, "struct q.size", 1100, 6);
    struct facts_monitor queue = queue_of(amount);
    struct model *model = model_of(trace, 1, &queue);
    assert_true(evidence_says(
        model, "room: nobody had to wait for it; struct q.size held 6 when first seen"));
    end(model, trace);
}

static void a_limit_that_was_seen_with_two_values_tells_nothing(void **state) {
    (void)state;
    struct trace *trace = queue_trace();
    see(trace, "struct q.size", 1100, 6);
    see(trace, "struct q.size", 1200, 7);
    assert_true(room(trace, (struct facts_amount){.text = "struct q.size"}) == -1);
}

static void a_queue_has_no_less_room_than_was_taken(void **state) {
    (void)state;
    assert_true(room(queue_trace(), constant_amount(1)) == -1);
    struct trace *trace = queue_trace();
    see(trace, "struct q.size", 1100, 1);
    assert_true(room(trace, (struct facts_amount){.text = "struct q.size"}) == -1);
}

static void who_gives_up_when_a_queue_is_full_does_not_wait_for_room(void **state) {
    (void)state;
    put_steps[0].timed = true;
    assert_true(room(queue_trace(), constant_amount(4)) == -1);
    put_steps[0].timed = false;
    struct facts_section try_put = {{"t.c", "put", 10, 1}, 2, put_steps + 1};
    struct facts_section with_wait = queue_sections[0];
    queue_sections[0] = try_put;
    assert_true(room(queue_trace(), constant_amount(4)) == -1);
    queue_sections[0] = with_wait;
}

static void by_the_users_word_who_puts_waits_for_room(void **state) {
    (void)state;
    for (int says = 0; says <= 1; says++) {
        struct facts_monitor queue = queue_of(constant_amount(4));
        queue.n_sections = 0;
        queue.users_word = says;
        struct trace *trace = queue_trace();
        struct model *model = model_of(trace, 1, &queue);
        assert_true(tokens_of(model) == (says ? 4 : -1));
        end(model, trace);
    }
}

static void room_that_follows_the_threads_does_so_before_it_is_short(void **state) {
    (void)state;
    struct facts_monitor queue = queue_of(
        (struct facts_amount){.text = "2 * n_threads", .factor = 2, .follows_threads = true});
    struct trace *trace = queue_trace();
    struct model *model = model_of(trace, 1, &queue);
    assert_int_equal(model->n_monitors, 1);
    assert_int_equal(model->monitors[0].kind, HAND_MADE_BOUNDED_QUEUE);
    const struct linear *amount = &model->monitors[0].amount;
    assert_int_equal(amount->n_terms, 1);
    assert_true(amount->base == 0 && amount->terms[0].factor == 2);
    end(model, trace);
}

/* ---- what names an object ---- */

/* Workers wait for a permit in one place, and in another for what main gives them, `more` times
 * more often. */
static struct trace *permit_and_items(uint64_t more) {
    enum { TIMES = 2 * ROUNDS };
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t i = 1; i <= TIMES; i++) {
        uint64_t at = 1000 * i;
        section(trace, 1, "enter", 20, at, NOBODY, NOBODY, 0);
        section(trace, 2, "enter", 20, at + 100, NOBODY, EMPTY, at + 305);
        section(trace, 1, "leave", 30, at + 300, EMPTY, NOBODY, 0);
        section(trace, 2, "leave", 30, at + 400, EMPTY, NOBODY, 0);
    }
    for (uint64_t i = 1; i <= TIMES + more; i++) {
        uint64_t at = 1000 * (TIMES + i);
        section(trace, 1, "get", 50, at, NOBODY, FULL, at + 105);
        section(trace, 0, "put", 40, at + 100, FULL, NOBODY, 0);
        section(trace, 0, "put", 40, at + 200, FULL, NOBODY, 0);
        section(trace, 0, "put", 40, at + 300, FULL, NOBODY, 0);
        section(trace, 1, "get", 50, at + 400, NOBODY, NOBODY, 0);
        section(trace, 1, "get", 50, at + 500, NOBODY, NOBODY, 0);
    }
    return finished(trace, 1000 * (2 * TIMES + more + 1));
}

static void of_two_that_tell_as_many_waits_the_limit_names_the_object(void **state) {
    (void)state;
    static struct facts_operation operations[] = {
        {FACTS_WAIT, {"t.c", "enter", 20, 1}},
        {FACTS_ARRIVE, {"t.c", "leave", 30, 1}},
        {FACTS_WAIT, {"t.c", "get", 50, 1}},
        {FACTS_ARRIVE, {"t.c", "put", 40, 1}},
    };
    static struct facts_monitor both = {.kind = MONITOR_COMPLETION,
                                        .name = "struct x",
                                        .mutex = "struct x.mutex",
                                        .n_operations = 4,
                                        .operations = operations};
    for (uint64_t more = 0; more <= 2; more++) {
        struct trace *trace = permit_and_items(more);
        struct model *model = model_of(trace, 1, &both);
        assert_int_equal(model->n_monitors, 1);
        const struct hand_made *monitor = &model->monitors[0];
        assert_int_equal(monitor->n_made_of, 2);
        assert_int_equal(monitor->kind, more < 2 ? HAND_MADE_SEMAPHORE : HAND_MADE_UNBOUNDED_QUEUE);
        assert_true(more == 2 || monitor->amount.base == 1);
        end(model, trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_tells_what_comes_before_a_wait_where_the_trace_does_not),
        cmocka_unit_test(the_trace_overrules_the_order_of_the_text),
        cmocka_unit_test(what_waits_for_one_condition_is_not_the_object_of_another),
        cmocka_unit_test(statements_are_of_their_own_object_only),
        cmocka_unit_test(a_barrier_that_nobody_waited_at_is_none),
        cmocka_unit_test(where_few_waits_tell_the_source_decides_unless_the_trace_refutes_it),
        cmocka_unit_test(what_the_source_decides_is_no_surer_than_the_source),
        cmocka_unit_test(each_object_has_the_amount_it_was_made_with),
        cmocka_unit_test(permits_that_nobody_waited_for_are_those_that_the_counter_held),
        cmocka_unit_test(a_count_that_begins_at_nothing_may_be_given_before_it_is_taken),
        cmocka_unit_test(the_user_is_told_what_the_variable_held),
        cmocka_unit_test(where_a_counter_counts_up_the_limit_tells),
        cmocka_unit_test(what_was_seen_does_not_tell_where_something_speaks_against_it),
        cmocka_unit_test(gates_that_are_alike_must_have_begun_alike),
        cmocka_unit_test(what_was_seen_chooses_among_what_the_source_says),
        cmocka_unit_test(a_queue_that_was_never_full_has_the_room_that_the_source_says),
        cmocka_unit_test(whom_a_put_wakes_shows_where_nobody_waited),
        cmocka_unit_test(it_has_the_room_that_the_limit_held),
        cmocka_unit_test(a_limit_that_was_seen_with_two_values_tells_nothing),
        cmocka_unit_test(a_queue_has_no_less_room_than_was_taken),
        cmocka_unit_test(who_gives_up_when_a_queue_is_full_does_not_wait_for_room),
        cmocka_unit_test(by_the_users_word_who_puts_waits_for_room),
        cmocka_unit_test(room_that_follows_the_threads_does_so_before_it_is_short),
        cmocka_unit_test(of_two_that_tell_as_many_waits_the_limit_names_the_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
