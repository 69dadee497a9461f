/* Rounds of a computation that all threads have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL

enum { THREADS = 2, STEPS = 20, BARRIER = 0x100 };

/* Threads that meet after each step; `lengths[t]`: how long thread t computes in it, 100 us each.
 */
static struct model *model_of(const uint64_t lengths[THREADS][STEPS]) {
    struct trace *trace = builder_new(THREADS);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t meet = builder_context(trace, "step", 30, "worker", 100);
    uint64_t end = 0;
    for (int t = 1; t <= THREADS; t++)
        builder_record(trace, main_thread, "pthread_create", (uint64_t)t, 0, 0, create, t);
    for (int t = 1; t <= THREADS; t++)
        builder_thread(trace, "worker", main_thread);
    uint64_t now = 10 * US;
    for (int step = 0; step < STEPS; step++) {
        uint64_t longest = 0;
        for (int t = 0; t < THREADS; t++)
            longest = lengths[t][step] > longest ? lengths[t][step] : longest;
        for (int t = 0; t < THREADS; t++) {
            uint64_t done = now + lengths[t][step] * 100 * US;
            builder_slice(trace, t + 1, now, done);
            builder_record(trace, t + 1, "pthread_barrier_wait", done,
                           now + longest * 100 * US - done + 1, BARRIER, meet, THREADS);
        }
        end = now += longest * 100 * US + 10;
    }
    for (int t = 1; t <= THREADS; t++)
        builder_record(trace, main_thread, "pthread_join", 100 + (uint64_t)t, end - 100, 0, join,
                       t);
    builder_finish(trace, end + 100);
    struct error error = {""};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    trace_free(trace);
    return model;
}

/* Of the way from one meeting to the next. */
static struct dist step_cpu(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            if (model->nodes[n].kind == NODE_BARRIER && model->nodes[n].edges[e].to == (int)n)
                return model->nodes[n].edges[e].cpu_ns;
    fail_msg("the steps are no loop");
    return (struct dist){0};
}

static void steps_that_differ_alike_for_all_are_rounds(void **state) {
    (void)state;
    uint64_t lengths[THREADS][STEPS];
    for (int step = 0; step < STEPS; step++)
        for (int t = 0; t < THREADS; t++)
            lengths[t][step] = step % 3 ? 10 : 50 + (uint64_t)t;
    struct model *model = model_of(lengths);
    struct dist cpu = step_cpu(model);
    assert_true(cpu.common > 0.95 && cpu.common <= 1);
    assert_int_equal(cpu.sharers, THREADS);
    model_free(model);
}

static void steps_that_differ_for_each_are_not(void **state) {
    (void)state;
    uint64_t lengths[THREADS][STEPS];
    for (int step = 0; step < STEPS; step++)
        for (int t = 0; t < THREADS; t++)
            lengths[t][step] = (step + t) % 2 ? 10 : 50;
    struct model *model = model_of(lengths);
    assert_true(step_cpu(model).common == 0);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_differ_alike_for_all_are_rounds),
        cmocka_unit_test(steps_that_differ_for_each_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
