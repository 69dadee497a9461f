/* Items that are put for several threads at once, on traces written by hand. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, ROUNDS = 8 };

/* The first of some workers, or main where there is one only, tells the others by a broadcast in
 * each round, for which they wait. */
static struct trace *trace_of_calls(int workers) {
    int caller = workers > 1 ? 1 : 0;
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint64_t end = 10000 * (ROUNDS + 1);
    for (int t = 1; t <= workers; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int t = 1; t <= workers; t++)
        builder_thread(trace, "worker", main_thread);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t at = 10000 * (round + 1);
        builder_slice(trace, caller, at - 9000, at + 10);
        builder_section(trace, caller,
                        (struct builder_section){.function = "call",
                                                 .line = 10,
                                                 .mutex = MUTEX,
                                                 .start_ns = at,
                                                 .signals_before = CONDITION,
                                                 .broadcasts = true});
        for (int t = caller + 1; t <= workers; t++) {
            uint64_t woken = at + 10 * (uint64_t)t;
            builder_section(trace, t,
                            (struct builder_section){.function = "follow",
                                                     .line = 30,
                                                     .mutex = MUTEX,
                                                     .start_ns = at - 5000 + 10 * (uint64_t)t,
                                                     .waits_for = CONDITION,
                                                     .woken_ns = woken});
            builder_slice(trace, t, woken, woken + 2000);
        }
    }
    for (int t = 1; t <= workers; t++)
        builder_join(trace, main_thread, caller ? 100 + (uint64_t)t : end - 1, end, join, t);
    builder_finish(trace, end + 200);
    return trace;
}

/* The source: threads are created in a loop over them, who calls sets a flag, and who follows takes
 * it back or leaves it. */
static struct model *model_of_calls(int workers, bool takes_it_back) {
    static char *files[] = {"t.c"};
    struct facts_creation creation = {
        .place = {"t.c", "main", 900, 1}, .object = ON_THREAD, .per_thread = true};
    struct facts_step set = {.kind = STEP_UPDATE, .change = CHANGE_SET, .by = 1};
    struct facts_step wait[] = {{.kind = STEP_WAIT, .condition = "called"},
                                {.kind = STEP_UPDATE, .change = CHANGE_SET}};
    struct facts_section sections[] = {
        {.place = {"t.c", "call", 10, 1}, .n_steps = 1, .steps = &set},
        {.place = {"t.c", "follow", 30, 1}, .n_steps = takes_it_back ? 2 : 1, .steps = wait}};
    struct facts_variable variable = {.name = "called"};
    struct facts_monitor monitor = {.kind = MONITOR_OTHER,
                                    .name = "gate",
                                    .n_variables = 1,
                                    .variables = &variable,
                                    .n_sections = 2,
                                    .sections = sections};
    struct facts facts = {.version = FACTS_VERSION,
                          .n_files = 1,
                          .files = files,
                          .n_creations = 1,
                          .creations = &creation,
                          .n_monitors = 1,
                          .monitors = &monitor};
    struct trace *trace = trace_of_calls(workers);
    return builder_model(trace, &facts);
}

static const struct node *put_of(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_PUT)
            return &model->nodes[n];
    fail_msg("nobody puts anything");
    return NULL;
}

static void a_call_to_all_others_is_for_as_many_as_there_are(void **state) {
    (void)state;
    for (int workers = 3; workers <= 4; workers++) {
        struct model *model = model_of_calls(workers, true);
        const struct node *put = put_of(model);
        assert_float_equal(put->count, workers - 1, 0);
        assert_float_equal(put->count_scaling.growth, 1, 0);
        assert_float_equal(put->count_scaling.less, 1, 0);
        model_free(model);
    }
}

/* One item for one other thread may be work that nobody else gets. */
static void of_two_threads_the_source_must_say_that_it_is_a_call(void **state) {
    (void)state;
    struct model *model = model_of_calls(2, false);
    assert_float_equal(put_of(model)->count_scaling.growth, 1, 0);
    assert_float_equal(put_of(model)->count_scaling.less, 1, 0);
    model_free(model);
    model = model_of_calls(2, true);
    assert_float_equal(put_of(model)->count_scaling.growth, 0, 0);
    model_free(model);
}

/* One worker takes each item that is put: nothing says that more of them would get one each. */
static void of_one_worker_nothing_is_a_call_to_all(void **state) {
    (void)state;
    struct model *model = model_of_calls(1, true);
    assert_float_equal(put_of(model)->count_scaling.growth, 0, 0);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_to_all_others_is_for_as_many_as_there_are),
        cmocka_unit_test(of_one_worker_nothing_is_a_call_to_all),
        cmocka_unit_test(of_two_threads_the_source_must_say_that_it_is_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
