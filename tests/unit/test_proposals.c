/* What the source proposes beside what a trace written by hand shows: the order within a section,
 * which proposal a finding belongs to, and who decides where few waits tell little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/monitors.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, EMPTY = 0x2000, FULL = 0x3000, NOBODY = 0, ROUNDS = 10 };

static const int no_pools[BUILDER_THREADS];

/* A critical section of `function` that signals `told` (NOBODY: none) and then waits on `awaited`
 * until `woken` (0: not at all). */
static void section(struct trace *trace, int thread, const char *function, int line, uint64_t start,
                    uint64_t told, uint64_t awaited, uint64_t woken) {
    uint32_t context = builder_context(trace, function, line, "thread", 100);
    uint32_t inside = builder_context(trace, function, line + 2, "thread", 100);
    builder_record(trace, thread, "pthread_mutex_lock", start, 0, MUTEX, context, 0);
    if (told)
        builder_record(trace, thread, "pthread_cond_signal", start + 1, 0, told, inside, 0);
    if (woken)
        builder_record(trace, thread, "pthread_cond_wait", start + 2, woken - start - 2, awaited,
                       inside, 0);
    builder_record(trace, thread, "pthread_mutex_unlock", woken ? woken + 1 : start + 3, 0, MUTEX,
                   inside, 0);
}

static struct trace *new_trace(void) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "worker", 0);
    builder_thread(trace, "worker", 0);
    return trace;
}

static struct trace *finished(struct trace *trace, uint64_t end_ns) {
    for (size_t t = 0; t < trace->n_threads; t++)
        builder_slice(trace, (int)t, 0, end_ns);
    builder_finish(trace, end_ns);
    return trace;
}

/* ---- the order within a section ---- */

/* The worker hands in what is empty, and waits for what is full, in one section. By turns, main
 * waits for the first, and the worker for the second: then nobody is there to be signalled. */
static struct trace *exchanges(void) {
    struct trace *trace = new_trace();
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
    struct sections sections = sections_find(trace, no_pools);
    struct monitors monitors = monitors_find(trace, &sections, facts, NULL);
    bool early = false;
    assert_int_equal(monitors.n_guards, 2);
    for (size_t g = 0; g < monitors.n_guards; g++) {
        const struct guard *guard = &monitors.guards[g];
        bool of_main = false;
        for (size_t c = 0; c < monitors.n_classes; c++)
            of_main |= guard->waits[c] && strcmp(monitors.classes[c].function, "fetch") == 0;
        for (size_t c = 0; of_main && c < monitors.n_classes; c++)
            early |= guard->early[c] && guard->weight[c] > 0;
        assert_true(guard->violations == 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_tells_what_comes_before_a_wait_where_the_trace_does_not),
        cmocka_unit_test(the_trace_overrules_the_order_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
