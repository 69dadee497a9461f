/* What it costs to make threads anew again and again, and to end them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/thread_ends.h"
#include "tests/unit/trace_builder.h"

enum { ROUNDS = 20, AT_A_TIME = 2, CREATED = ROUNDS * AT_A_TIME, ROUND_NS = 1000000 };
enum { CREATE_NS = 50000, WORK_NS = 400000, END_NS = 100000 };

/* Main makes two threads in each round and joins them; of each the kernel accounts `end_ns` to the
 * program that no time of a thread on a core has. */
static struct trace *made_anew(int rounds, int at_a_time, uint64_t end_ns) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint64_t on_core_ns = 0;
    for (int r = 0; r < rounds; r++) {
        uint64_t now = (uint64_t)r * ROUND_NS;
        int first = (int)trace->n_threads;
        builder_slice(trace, main_thread, now, now + (uint64_t)at_a_time * CREATE_NS);
        for (int t = 0; t < at_a_time; t++, now += CREATE_NS) {
            int thread = builder_thread(trace, "worker", main_thread);
            trace->threads[thread].creation_context = create;
            builder_create(trace, main_thread, now, CREATE_NS, create, thread);
            builder_run(trace, thread, 1, now, now + CREATE_NS, now + CREATE_NS + WORK_NS, false);
            on_core_ns += CREATE_NS + WORK_NS;
        }
        uint64_t end = (uint64_t)(r + 1) * ROUND_NS - 10;
        for (int t = 0; t < at_a_time; t++)
            builder_join(trace, main_thread, now + (uint64_t)t, end - now - (uint64_t)t, join,
                         first + t);
    }
    builder_finish(trace, (uint64_t)rounds * ROUND_NS);
    for (size_t t = 1; t < trace->n_threads; t++)
        builder_life(trace, (int)t, trace->threads[t].slices[0].on_ns,
                     trace->threads[t].slices[0].off_ns);
    trace->meta.cpu_ns = on_core_ns + (uint64_t)(rounds * at_a_time) * end_ns;
    return trace;
}

static void what_no_thread_computed_is_what_ended_them(void **state) {
    (void)state;
    struct trace *trace = made_anew(ROUNDS, AT_A_TIME, END_NS);
    struct thread_ends found = thread_ends_find(trace);
    assert_true(found.created == CREATED);
    assert_true(found.end_ns > 0.99 * END_NS && found.end_ns < 1.01 * END_NS);
    double share = (double)(CREATE_NS + END_NS) / (CREATE_NS + WORK_NS + END_NS);
    assert_true(found.share > 0.99 * share && found.share < 1.01 * share);
    trace_free(trace);
}

static void little_may_be_what_starts_and_ends_a_process(void **state) {
    (void)state;
    struct trace *trace = made_anew(ROUNDS, AT_A_TIME, 10000);
    struct thread_ends found = thread_ends_find(trace);
    assert_true(found.end_ns == 0 && found.share > 0); /* the calls that make them are seen */
    trace_free(trace);
}

static void threads_that_are_made_once_tell_nothing(void **state) {
    (void)state;
    struct trace *trace = made_anew(1, 9, END_NS);
    struct thread_ends found = thread_ends_find(trace);
    assert_true(found.created == 0 && found.end_ns == 0 && found.share == 0);
    trace_free(trace);
}

static bool has_step(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (strcmp(model->nodes[n].name, "worker: cleared up") == 0)
            return model->nodes[n].kind == NODE_STEP && model->nodes[n].n_edges == 1 &&
                   model->nodes[model->nodes[n].edges[0].to].kind == NODE_END;
    return false;
}

static struct model *model_of(struct trace *trace) {
    struct facts_creation creation = {
        .place = {.function = "main", .file = "t.c", .line = 900},
        .object = ON_THREAD,
        .per_thread = true,
    };
    struct facts facts = {.version = FACTS_VERSION, .n_creations = 1, .creations = &creation};
    return builder_model(trace, &facts);
}

static void each_thread_of_the_model_is_cleared_up_behind(void **state) {
    (void)state;
    struct model *model = model_of(made_anew(ROUNDS, AT_A_TIME, END_NS));
    assert_true(has_step(model));
    assert_non_null(model->pools[1].remade);
    model_free(model);
    model = model_of(made_anew(1, 9, END_NS));
    assert_false(has_step(model));
    assert_null(model->pools[1].remade);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_thread_computed_is_what_ended_them),
        cmocka_unit_test(little_may_be_what_starts_and_ends_a_process),
        cmocka_unit_test(threads_that_are_made_once_tell_nothing),
        cmocka_unit_test(each_thread_of_the_model_is_cleared_up_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
